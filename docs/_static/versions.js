// A menu of the versions whose documentation lies beside this one; none where a single version stands alone.
const root = new URL(document.documentElement.dataset.content_root ?? "./", document.baseURI);
fetch(new URL("../versions.json", root))
  .then((answer) => (answer.ok ? answer.json() : []))
  .then((versions) => {
    const shown = root.pathname.split("/").at(-2);
    if (!versions.includes(shown) || versions.length < 2) return;
    const menu = document.createElement("select");
    menu.className = "versions";
    menu.setAttribute("aria-label", "Version of the documentation");
    for (const version of versions) menu.add(new Option(version, version, version === shown, version === shown));
    menu.addEventListener("change", () => {
      const page = document.baseURI.slice(root.href.length);
      const there = new URL(`../${menu.value}/`, root);
      // The same page there, or the first one where it did not exist yet.
      fetch(new URL(page, there), { method: "HEAD" })
        .then((answer) => location.assign(answer.ok ? new URL(page, there) : there))
        .catch(() => location.assign(there));
    });
    document.querySelector(".sidebar-brand")?.after(menu);
  })
  .catch(() => {}); // a site that is read from files
