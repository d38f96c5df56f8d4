// Makes a part of the page like a newer one without replacing equal parts: the focus, typed text, what is
// unfolded, and the place to which a reader has scrolled stay.

// The attributes that a browser or a person may change after the server has rendered them.
const OWN_ATTRIBUTES = ["open"];

function key(node) {
  // The property `id` of a form may be a field with that name.
  return node.getAttribute?.("id") || node.dataset?.id || node.dataset?.key || "";
}

function isSameKind(old, fresh) {
  return old.nodeName === fresh.nodeName && key(old) === key(fresh);
}

// Whether a field shows something else than the server has given it.
export function isEdited(field) {
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected) && hasDefault(field);
  if (field.matches("[type=checkbox], [type=radio]")) return field.checked !== field.defaultChecked;
  if (field.matches("[type=file]")) return field.files.length > 0;
  return field.value !== field.defaultValue;
}

// Without a default the browser selects the first option.
function hasDefault(select) {
  return [...select.options].some((option) => option.defaultSelected) || select.selectedIndex > 0;
}

// `keep` decides about elements that stay as they are.
export function morph(old, fresh, keep = () => false) {
  if (old.nodeType !== Node.ELEMENT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.isEqualNode(fresh) || keep(old, fresh)) return;
  const isField = old.matches("input, textarea, select");
  const isKept = isField && isEdited(old);
  for (const name of old.getAttributeNames()) {
    if (!fresh.hasAttribute(name) && !OWN_ATTRIBUTES.includes(name)) old.removeAttribute(name);
  }
  for (const name of fresh.getAttributeNames()) {
    if (!OWN_ATTRIBUTES.includes(name) && old.getAttribute(name) !== fresh.getAttribute(name)) old.setAttribute(name, fresh.getAttribute(name));
  }
  if (!(isKept && old.matches("select, textarea"))) morphChildren(old, fresh, keep);
  if (!isField || isKept) return;
  if (old.matches("select")) old.selectedIndex = fresh.selectedIndex;
  else if (old.matches("[type=checkbox], [type=radio]")) old.checked = fresh.checked;
  else if (!old.matches("[type=file]") && old.value !== fresh.value) old.value = fresh.value;
}

function morphChildren(old, fresh, keep) {
  const known = new Map([...old.childNodes].filter(key).map((node) => [key(node), node]));
  let next = old.firstChild;
  for (const wanted of [...fresh.childNodes]) {
    const candidate = key(wanted) ? known.get(key(wanted)) : next;
    if (!candidate || !isSameKind(candidate, wanted)) {
      old.insertBefore(wanted, next);
    } else {
      if (candidate === next) next = next.nextSibling;
      // Moving an element keeps the focus, in browsers that can do so.
      else if (old.moveBefore) old.moveBefore(candidate, next);
      else old.insertBefore(candidate, next);
      morph(candidate, wanted, keep);
    }
  }
  while (next) {
    const rest = next.nextSibling;
    next.remove();
    next = rest;
  }
}
