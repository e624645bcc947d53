// Where the search of the site ranks what it finds: pages that explain come first, records of what was measured and changed last.
const LAST = /^(reproduction\/|performance\/|scaling\/|changelog|contributing|architecture|releasing|citing)/;

var Scorer = {
  score: ([page, , , , score]) => (LAST.test(page) ? score / 100 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
