// A button on each block of code that copies it; of a terminal, what was typed.
const typed = (block) => {
  const lines = block.textContent.trimEnd().split("\n");
  const commands = block.closest(".highlight-console") ? lines.filter((line) => line.startsWith("$ ")) : [];
  return commands.length ? commands.map((line) => line.slice(2)).join("\n") : lines.join("\n");
};

for (const block of document.querySelectorAll("div.highlight > pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(typed(block));
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed"; // by a page that is no secure context
    }
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  block.parentElement.append(button);
}
