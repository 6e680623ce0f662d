import { globSync, readFileSync } from 'node:fs'

/** A place of the sources that refuses something. */
export interface WrittenRemedy {
  /** File and line. */
  readonly place: string
  /** What the place says to do: texts that begin a sentence. */
  readonly texts: readonly string[]
}

const product = ['src/**/*.ts', 'connectors/**/*.ts']

/** Every place that writes down a remedy of its own, but for the two catalogues. */
export function writtenRemedies(): readonly WrittenRemedy[] {
  return globSync(product)
    .filter((file) => !file.includes('catalogue'))
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8')
      const calls = [...text.matchAll(/(?<!function )\b(?:conflict|noRoom|changedMeanwhile)\(/g)]
      const members = [...text.matchAll(/\b(?:remedy:|\w*[rR]emedy =)\s/g)]
      return [
        ...calls.map(({ index }) => placed(file, text, index, callAt(text, index))),
        ...members.map(({ index }) => placed(file, text, index, memberAt(text, index))),
      ]
    })
}

/** Places that refuse with one of these codes, and with no more than the catalogue says. */
export function withoutRemedy(codes: readonly string[]): readonly string[] {
  const refusal = new RegExp(`new DomainError\\(\\s*'(?:${codes.join('|')})'`, 'g')
  return globSync(product).flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    return [...text.matchAll(refusal)]
      .filter(({ index }) => !/\bremedy\b/.test(callAt(text, index)))
      .map(({ index }) => `${file}:${lineOf(text, index)}`)
  })
}

function placed(file: string, text: string, index: number, source: string): WrittenRemedy {
  const literals = source.match(/'(?:[^'\\]|\\.)*'|`[^`]*`/g) ?? []
  const texts = literals
    .map((literal) => literal.slice(1, -1).replaceAll(/\$\{[^}]*\}/g, '…'))
    .filter((literal) => /^[A-Z].*[. ]$/.test(literal))
  return { place: `${file}:${lineOf(text, index)}`, texts }
}

function lineOf(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

/** A call, to the parenthesis that ends it: texts have as many that open as that close. */
function callAt(text: string, index: number): string {
  let depth = 0
  for (let at = text.indexOf('(', index); at < text.length; at++) {
    if (text[at] === '(') depth++
    if (text[at] === ')' && --depth === 0) return text.slice(index, at + 1)
  }
  return text.slice(index)
}

/** A member and its text, which may be on the next line. */
function memberAt(text: string, index: number): string {
  return text.slice(index).match(/^[^\n]*\n?[^\n]*'?/)?.[0] ?? ''
}
