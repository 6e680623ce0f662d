/**
 * Texts that something on the way may take for something else: marks, what has no width, other directions, characters
 * of several parts, what CSV, SQL, JSON, spreadsheets and shells read as theirs, numbers and words that look like values.
 * All of them are well-formed and without U+0000.
 */

const mark = '\uFEFF'
const replacement = '\uFFFD'

const marks = [
  mark,
  `${mark}bom`,
  `${mark}${mark}two`,
  `in${mark}side`,
  `end${mark}`,
  `${mark}"quoted"`,
  `${mark}1`,
  `${mark}{"a":1}`,
  `${mark}longer than the twelve bytes that are kept in place`,
  'ï»¿',
  '\uFFFE',
  '\uFFFF',
  '\uFDD0',
  replacement,
  `${replacement}${replacement}x`,
]

const spaces = [
  '',
  ' ',
  '  both  ',
  '\t',
  '\u00A0no break\u00A0',
  '\u2028',
  '\u2029',
  '\u3000',
  '\u1680\u2003\u205F',
  '\u0085',
  '\u200B',
  '\u200B\u200C\u200D\u2060',
  '\u00AD',
  '\u180E',
]

const lines = ['\n', '\r', '\r\n', 'a\nb', 'a\r\nb\r\n', '\n\nend', 'a\u000Bb\u000Cc']

/** Control characters: all of C0, DEL and C1 but U+0000. */
const controls = [
  ...Array.from({ length: 31 }, (_, index) => `c${String.fromCharCode(index + 1)}c`),
  '\u007F',
  '\u0080\u009F',
  '\u001B[31mred\u001B[0m',
  '\b\b\b',
]

const directions = ['\u202Eevil\u202C', '\u2066left\u2069', 'مرحبا', 'שלום a', '\u061C', '\u200Fx']

const composed = [
  'e\u0301',
  'é',
  'A\u030A',
  'Å',
  'Z\u0351\u036B\u0343a\u0361l\u0322g\u0321o\u0354',
  '\u0301',
  '한글',
  '\u1112\u1161\u11AB',
  'ﬁ',
  'ǅ',
  'ß',
  'İi',
  'ſ',
]

const astral = [
  '😀',
  '👩‍👩‍👧‍👦',
  '🏴‍☠️',
  '🇩🇪',
  '👍🏽',
  '𝔘𝔫𝔦',
  '𠜎',
  '\u{10FFFF}',
  '\u{1F9D1}\u200D\u{1F680}',
  '1️⃣',
]

const quotes = [
  '"',
  '""',
  '"""',
  "'",
  "''",
  '`',
  '\\',
  '\\\\',
  '\\"',
  '\\n',
  '\\u0000',
  '\\x00',
  '"a","b"',
  ',',
  ',,',
  ';',
  '|',
  "'; DROP TABLE readings; --",
  '$1',
  '${token}',
  '{{name}}',
  '%s%n',
  '%00',
  '<script>alert(1)</script>',
  '&amp;&#0;',
  ']]>',
  '<!-- -->',
]

const formulas = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  '=cmd|" /C calc"!A0',
  '\t=1+1',
  "'=1+1",
  '=HYPERLINK("http://localhost")',
]

const likeNumbers = [
  '0',
  '-0',
  '00',
  '007',
  '1e3',
  '1E400',
  '0x10',
  '0b1',
  '1_000',
  '1,000',
  '.5',
  '5.',
  '9007199254740993',
  '602000000000000000000',
  '1.7976931348623157e309',
  'NaN',
  'nan',
  'Infinity',
  '-Infinity',
  'inf',
  '١٢٣',
  '½',
  '2026-01-01',
  '2026-01-01T00:00:00Z',
  '24:00',
]

const likeValues = [
  'null',
  'NULL',
  '\\N',
  'nil',
  'None',
  'undefined',
  'true',
  'false',
  'on',
  'off',
  '[]',
  '{}',
  '[object Object]',
  '{"a":1}',
  '[1,2]',
  '"text"',
  '__proto__',
  'constructor',
  'timestamp',
  'extra',
  ':flag',
  'CON',
  '../../etc/passwd',
]

const long = [
  'x'.repeat(5_000),
  '😀'.repeat(3_000),
  `${mark}${'ä'.repeat(4_096)}`,
  'a'.repeat(12),
  'ä'.repeat(6),
  'a'.repeat(13),
]

export const naughtyTexts: readonly string[] = [
  ...marks,
  ...spaces,
  ...lines,
  ...controls,
  ...directions,
  ...composed,
  ...astral,
  ...quotes,
  ...formulas,
  ...likeNumbers,
  ...likeValues,
  ...long,
]

/** Texts that a name can be: not empty, of at most 100 units. */
export const naughtyNames: readonly string[] = naughtyTexts.filter(
  (text) => text !== '' && text.length <= 100,
)
