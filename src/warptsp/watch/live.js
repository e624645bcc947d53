// A page while its run goes on: events say where the search stands, and tours are fetched when there are better ones.

const page = window.warptspPage;
const token = location.pathname.split("/")[1];
const base = `/${token}/`;
const PAUSE = 1000; // milliseconds between two tours at least
const SHARE = 0.1; // of this browser's time that may go into tours
const PATIENCE = 60_000; // milliseconds without warptsp after which it is not expected back
const RETRY = 1000; // milliseconds until a stream that was refused is asked for again

let number = 0; // of the tour shown
let length = Infinity;
let next = 0;
let fetching = null;
let latest = null;
let lostAt = null;
let ended = false;
let named = []; // the figures of the last event

function button(text, title, action) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.title = title;
  made.addEventListener("click", action);
  page.actions.append(made);
  return made;
}

const stop = button("Stop", "End the search and keep the best tour", async () => {
  stop.disabled = true;
  stop.textContent = "Stopping";
  if (!(await post("stop"))) {
    stop.disabled = false;
    stop.textContent = "Stop";
  }
});
const save = button("Save", "Save the current tour", async () => {
  save.disabled = true;
  const response = await post("save");
  if (response !== null) await keep(response);
  save.disabled = ended;
});
stop.id = "stop";
save.id = "save";
document.querySelector("footer").textContent = "Made by warptsp.";
const notice = document.createElement("output");
notice.id = "notice";
notice.style.alignSelf = "center";
page.actions.append(notice);

async function post(name) {
  try {
    const response = await fetch(base + name, { method: "POST", headers: { "X-Warptsp-Token": token } });
    if (response.ok) return response;
    const said = await response.json().catch(() => ({}));
    notice.textContent = said.error ?? `Refused: ${response.status}`;
  } catch {
    notice.textContent = "No connection to warptsp.";
  }
  return null;
}

async function keep(response) {
  if (response.headers.get("Content-Type").startsWith("application/json")) {
    const { files } = await response.json();
    notice.textContent = `Saved to ${files.join(", ")}`;
    return;
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = `${document.title.split(" · ")[0]}.tour`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  notice.textContent = "Saved as a download";
}

// One at a time, and none while nobody looks.
function refresh() {
  if (fetching !== null || ended || document.hidden || latest?.length == null) return;
  if (!(latest.length < length)) return;
  fetching = take().finally(() => {
    fetching = null;
  });
}

async function take() {
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, next - performance.now())));
  let begun = 0, response, cities;
  try {
    response = await fetch(`${base}tour?after=${number}`);
    begun = performance.now(); // until here warptsp worked
    if (response.status === 200) cities = new Int32Array(await response.arrayBuffer());
  } catch {
    return; // the stream of events says so, too
  }
  if (cities !== undefined) {
    number = Number(response.headers.get("X-Tour-Number"));
    length = Number(response.headers.get("X-Tour-Length"));
    page.addSnapshot(Number(response.headers.get("X-Tour-Seconds")), length, cities);
    await drawn();
  }
  const now = performance.now();
  next = now + Math.max(PAUSE, (now - begun) / SHARE);
}

// A page that nobody sees gets no frames.
function drawn() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, 1000);
  });
}

async function finish() {
  ended = true;
  stop.remove();
  save.remove();
  for (let tries = 0; tries < 3 && number < latest.number; tries++) {
    await fetching;
    next = 0;
    await take();
  }
  events.close(); // warptsp waits for this
  notice.textContent = "";
  page.setStatus({ text: latest.text, state: latest.state });
}

function told(event) {
  lostAt = null;
  latest = JSON.parse(event.data);
  for (const [seconds, value] of latest.points) page.addPoint(seconds, value);
  const gone = named.filter((name) => !(name in latest.figures)).map((name) => [name, ""]);
  named = Object.keys(latest.figures);
  page.setStatus({
    text: latest.stopping && latest.state === "live" ? "Stopping" : latest.text,
    state: "live",
    done: latest.state === "live" ? (latest.done ?? null) : null,
    figures: { ...Object.fromEntries(gone), ...latest.figures },
  });
  if (latest.state === "live") refresh();
  else if (!ended) finish();
}

function lost() {
  if (ended) return;
  lostAt ??= performance.now();
  const over = performance.now() - lostAt > PATIENCE;
  page.setStatus({
    text: over ? "warptsp has gone; this is the last tour received" : "No connection to warptsp; trying again",
    state: "error",
  });
  if (over) {
    events.close();
    stop.disabled = save.disabled = true;
  } else if (events.readyState === EventSource.CLOSED) {
    setTimeout(listen, RETRY); // refused, perhaps since too many pages are open
  }
}

function listen() {
  events = new EventSource(`${base}events`);
  events.addEventListener("message", told);
  events.addEventListener("error", lost);
}

await page.ready;
let events;
listen();
document.addEventListener("visibilitychange", refresh);
