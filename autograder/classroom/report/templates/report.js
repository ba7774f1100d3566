// Sorting, and nothing else: a click on a heading sorts the rows below it, a second click turns them round.
const worth = (row, column, kind) => {
  const text = row.cells[column].textContent.trim();
  if (kind === "name") return text.toLowerCase();
  return text.startsWith("✓") ? 1e9 : Number.isNaN(parseFloat(text)) ? -1 : parseFloat(text);
};
for (const table of document.querySelectorAll("table.map")) {
  const headings = [...table.tHead.rows[1].cells];
  headings.forEach((heading, column) => {
    const button = document.createElement("button");
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const kind = heading.dataset.sort, before = heading.getAttribute("aria-sort");
      const rising = before ? before === "descending" : kind === "name";
      headings.forEach(other => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [worth(a, column, kind), worth(b, column, kind)];
        return (x < y ? -1 : x > y ? 1 : 0) * (rising ? 1 : -1);
      });
      table.tBodies[0].append(...rows);
    });
  });
}
