/**
 * What differs from run to run in what a page shows: each of a kind counts as any other of its kind, and the rest has to
 * be the same to the letter.
 */
const volatile: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'UUID'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\b)/g, 'TIME'],
  // As Python writes it.
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\+00:00/g, 'TIME'],
  [/\b[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT/g, 'TIME'],
  [/\b[0-9a-f]{32,}\b/g, 'HEX'],
  [/\b1[6-9]\d{8}(?:\d{3}|\d{6})?\b/g, 'EPOCH'],
  [/\bprocess: \d+\b/g, 'PROCESS'],
  [/\b\d+(?:\.\d+)? [KMGT]iB\b/g, 'SIZE'],
  [/\b127\.0\.0\.1:\d+/g, 'ADDRESS'],
  // Before secrets: both are found by their length.
  [/\bsv_(live|test|dev|prov)_[0-9a-f]{24}\b/g, 'sv_$1_ID'],
  // 32 bytes in base64url.
  [/(?<![\w-])[\w-]{43}(?![\w-])/g, 'SECRET'],
  [/(?<= -p | on port )\d+/g, 'PORT'],
  // The offset in the journal, in the explanation of an alert.
  [/\bentry \d+/g, 'ENTRY'],
  // CIDs of raw bytes, and the place on the ledger.
  [/\bbafkrei[a-z2-7]{52}\b/g, 'CID'],
  [/\bblock \d+(?= of the ledger)/g, 'BLOCK'],
  // A page has no spaces at the end of a line; tables of pandas do.
  [/ +$/gm, ''],
]

/** A text with a word in place of each value that no two runs have in common. */
export function withoutVolatile(text: string): string {
  return volatile.reduce((rest, [pattern, word]) => rest.replaceAll(pattern, word), text)
}
