/** Words that texts do not use any more, and what says the same in plain words. */
export interface UnusedWord {
  readonly pattern: RegExp
  readonly instead: string
}

/** A use of such a word, with the words around it. */
export interface OddUse {
  readonly word: string
  readonly around: string
  readonly instead: string
}

const unusedWords: readonly UnusedWord[] = [
  { pattern: /\b(un)?told\b|\btells?\b/gi, instead: 'notify, report, send, show, say' },
  { pattern: /\bwholes?\b/gi, instead: 'all of, complete, entire; a whole number is an integer' },
  { pattern: /\bmend(s|ed|ing)?\b/gi, instead: 'fix, repair, correct' },
  { pattern: /\bas ever\b/gi, instead: 'as before, as always' },
  { pattern: /\banew\b/gi, instead: 'again, new' },
  { pattern: /\bwho(so)?ever\b|\bwhomever\b/gi, instead: 'the user who, each client that' },
  { pattern: /\bwhatever\b/gi, instead: 'any ... that, all that' },
  { pattern: /\bfor good\b/gi, instead: 'permanently' },
  { pattern: /\b(is|are|was|were) meant\b/gi, instead: 'means, is for' },
  { pattern: /\b(heard|hears?)\b/gi, instead: 'receives, is notified' },
  {
    pattern: /\b(taken|mistaken) for\b|\b(takes?|took) (it|them|this|that|one) for an?\b/gi,
    instead: 'treated as, counted as',
  },
  { pattern: /\b(dis)?believe[sd]?\b/gi, instead: 'accept, trust' },
  {
    pattern: /\b(come|comes|came|coming|gets?|got) (no |any |not )?further\b/gi,
    instead: 'makes progress, continues',
  },
  {
    pattern: /(?<!\b[Tt]here )\b(is|are|was|were) none\b/g,
    instead: 'is not a ..., does not exist',
  },
  { pattern: /\b[Tt]here (is|are|was|were) none of\b/g, instead: 'does not exist' },
  {
    pattern: /\b(some|any|no)body\b/gi,
    instead: 'another user, anyone, someone, no one, or the role',
  },
  { pattern: /\bbeen let\b/gi, instead: 'was allowed to' },
  { pattern: /\bbefalls?\b|\bbefell\b/gi, instead: 'happens to' },
  { pattern: /\b(becomes?|became) of\b/gi, instead: 'happens to' },
  { pattern: /\bin what\b/gi, instead: 'in which, where' },
  { pattern: /\bof which there (is|are)\b/gi, instead: 'name the thing again' },
  { pattern: /\b(that|those) which\b/gi, instead: 'the one that, those that' },
]

/** Phrases that a word stands in for a reason of its own. */
const exceptions: readonly { readonly phrase: string; readonly reason: string }[] = [
  { phrase: 'src/telling/', reason: 'a folder' },
  { phrase: 'src/core/heard-streams.ts', reason: 'a file' },
]

const aroundMax = 40

/** Every use of an unused word in a text; a line break is a space. */
export function oddUsesIn(text: string): readonly OddUse[] {
  const line = exceptions
    .reduce((rest, { phrase }) => rest.replaceAll(phrase, ' '.repeat(phrase.length)), text)
    .replaceAll(/\s+/g, ' ')
  return unusedWords.flatMap(({ pattern, instead }) =>
    [...line.matchAll(pattern)].map(({ 0: word, index }) => ({
      word,
      around: line.slice(Math.max(0, index - aroundMax), index + word.length + aroundMax).trim(),
      instead,
    })),
  )
}

/** The uses as lines of a failure. */
export function shownUses(where: string, uses: readonly OddUse[]): readonly string[] {
  return uses.map(
    ({ word, around, instead }) => `${where}: "${word}" in "${around}"; say: ${instead}`,
  )
}
