// Files made from what is in the page.

function save(name, pieces, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(pieces, { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function fileName(ending) {
  const name = (facts.name || facts.title).replace(/[^\p{L}\p{N}._-]+/gu, "_").replace(/^[._]+/, "").slice(0, 80);
  return `${name || "tour"}${ending}`;
}

// TSPLIB 95, TYPE: TOUR.
function tourFile(cities, snapshot, tour) {
  const name = (facts.name || "tour").replace(/\s+/g, " ");
  const kind = facts.closed ? "tour" : "open path";
  const pieces = [
    `NAME : ${name}.tour\nCOMMENT : ${kind} of length ${snapshot.text}\nTYPE : TOUR\nDIMENSION : ${cities.n}\nTOUR_SECTION\n`,
  ];
  for (let begin = 0; begin < tour.length; begin += 65536) {
    pieces.push(Array.from(tour.subarray(begin, begin + 65536), (city) => cities.id(city)).join("\n"), "\n");
  }
  pieces.push("-1\nEOF\n");
  return pieces;
}

// The columns of the table that `warptsp solve --output tour.csv` writes, but for distances.
function tableFile(cities, tour) {
  // A row is one line for every reader, whatever it takes for the end of one.
  const onOneLine = (text) => {
    const lines = text.split(/\r\n|[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]/);
    if (lines.at(-1) === "") lines.pop();
    return lines.join(" ");
  };
  const quoted = (text) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const axes = facts.exact ? ["x", "y"] : facts.columns;
  const titles = ["position", "id", ...(cities.labels === null ? [] : ["name"]), ...axes];
  const pieces = [`${titles.join(",")}\n`];
  for (let begin = 0; begin < tour.length; begin += 16384) {
    const rows = Array.from(tour.subarray(begin, begin + 16384), (city, i) => {
      const fields = [begin + i + 1, cities.id(city)];
      if (cities.labels !== null) fields.push(quoted(onOneLine(cities.labels[city])));
      return fields.concat(cities.place(city) ?? []).join(",");
    });
    pieces.push(rows.join("\n"), "\n");
  }
  return pieces;
}
