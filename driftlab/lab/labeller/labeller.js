// Shows what Python renders; sends back keys, clicks and notes. No state of its own.
const KEYS = new Set(["ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", "Enter",
  "[", "]", "x", "g", "s", "u", "n", "p", "z", "m", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);

function render({ model, el }) {
  const root = document.createElement("div");
  root.className = "driftlab-label";
  root.tabIndex = 0;
  root.dataset.lmSuppressShortcuts = "true"; // JupyterLab must not take the keys
  const boxes = {};
  const note = document.createElement("input");
  // What is pressed stays where it is; the step below it may be short or long.
  for (const name of ["head", "strips", "marks", "foot", "step"]) {
    if (name === "step") root.appendChild(note);
    boxes[name] = root.appendChild(document.createElement("div"));
    boxes[name].className = name;
  }
  note.className = "note";
  note.placeholder = "note ( / to write, Esc to leave)";
  note.setAttribute("aria-label", "note");
  const help = root.appendChild(document.createElement("div"));
  help.className = "help";
  help.textContent = model.get("help");

  const draw = (name) => { boxes[name].innerHTML = model.get(name); };
  const here = () => {
    for (const old of boxes.strips.querySelectorAll(".touch.on")) old.classList.remove("on");
    for (const place of boxes.strips.querySelectorAll(`.touch[data-t="${model.get("t")}"]`)) place.classList.add("on");
  };
  const write = () => { if (document.activeElement !== note) note.value = model.get("note"); };
  const heard = Object.keys(boxes).map((name) => [`change:${name}`, () => { draw(name); here(); }]);
  heard.push(["change:t", here], ["change:note", write], ["change:run", write]);
  let waiting = null;
  const sendNote = () => {
    clearTimeout(waiting);
    if (waiting !== null) model.send({ note: note.value, run: model.get("run") });
    waiting = null;
  };
  note.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(sendNote, 250); });
  note.addEventListener("blur", sendNote);
  root.addEventListener("keydown", (event) => {
    if (event.target === note) {
      if (event.key === "Escape" || event.key === "Enter") { sendNote(); root.focus(); event.preventDefault(); }
      event.stopPropagation();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "/") { note.focus(); event.preventDefault(); event.stopPropagation(); return; }
    if (!KEYS.has(event.key)) return;
    model.send({ key: event.key });
    event.preventDefault();
    event.stopPropagation();
  });
  root.addEventListener("click", (event) => {
    const button = event.target.closest("[data-key]");
    const place = event.target.closest("[data-t]");
    if (button) model.send({ key: button.dataset.key });
    else if (place) model.send({ go: Number(place.dataset.t) });
    if (event.target !== note) root.focus({ preventScroll: true });
  });
  for (const [event, does] of heard) model.on(event, does);
  for (const name of Object.keys(boxes)) draw(name);
  here();
  write();
  el.appendChild(root);
  return () => {
    sendNote();
    for (const [event, does] of heard) model.off(event, does);
  };
}

export default { render };
