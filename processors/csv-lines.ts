/** One cell of a line; nothing where it is empty and not in quotes. */
export type Cell = string | undefined

export interface CsvLine {
  readonly cells: readonly Cell[]
  /** Where the line stands in the text: its end is before the line feed. */
  readonly start: number
  readonly end: number
}

/** What is wrong with the quotes of a text: where a line ends is not known then. */
export class CsvProblem extends Error {
  override readonly name = 'CsvProblem'
}

const lineFeed = '\n'
const quote = '"'

/**
 * Walks over the lines of a text (RFC 4180), passing over blank ones. Each character is looked at
 * once or twice, whatever they are: the library's time grows with the square of what some texts hold.
 */
export class CsvLines {
  readonly #text: string
  /** A field of its own, because each character is compared with it. */
  readonly #delimiter: string
  /** Cells that are kept of a line: of more it is only known that they are there. */
  readonly #cellsMax: number
  #at = 0
  #number = 0

  constructor(text: string, { delimiter, cellsMax }: { delimiter: string; cellsMax: number }) {
    this.#text = text
    this.#delimiter = delimiter
    this.#cellsMax = cellsMax
  }

  /** The next line. @throws CsvProblem */
  next(): CsvLine | undefined {
    while (this.#at < this.#text.length) {
      const start = this.#at
      this.#number++
      const cells = this.#cells()
      const end = withoutReturn(this.#text, start, this.#at)
      this.#at++
      if (end > start) return { cells, start, end }
    }
    return undefined
  }

  /** Reads up to the line feed, or to the end. */
  #cells(): Cell[] {
    const cells: Cell[] = []
    for (;;) {
      const cell = this.#text[this.#at] === quote ? this.#quoted() : this.#bare()
      if (cells.length < this.#cellsMax) cells.push(cell)
      if (this.#text[this.#at] !== this.#delimiter) return cells
      this.#at++
    }
  }

  #bare(): Cell {
    const text = this.#text
    const start = this.#at
    let end = start
    for (; end < text.length; end++) {
      const character = text[end]
      if (character === this.#delimiter || character === lineFeed) break
      if (character === quote)
        throw this.#problem('a quote within a value that has no quotes around it')
    }
    this.#at = end
    const last = text[end] === this.#delimiter ? end : withoutReturn(text, start, end)
    return last === start ? undefined : text.slice(start, last)
  }

  #quoted(): string {
    const text = this.#text
    let content = ''
    for (let from = this.#at + 1; ; ) {
      const end = text.indexOf(quote, from)
      if (end < 0) throw this.#problem('a quote that is not closed')
      content += text.slice(from, end)
      if (text[end + 1] !== quote) {
        this.#at = end + 1
        break
      }
      content += quote
      from = end + 2
    }
    if (text.startsWith('\r\n', this.#at) || text.slice(this.#at) === '\r') this.#at++
    const next = text[this.#at]
    if (next === undefined || next === lineFeed || next === this.#delimiter) return content
    throw this.#problem('something between a closing quote and the end of its value')
  }

  #problem(what: string): CsvProblem {
    return new CsvProblem(`line ${this.#number} has ${what}`)
  }
}

/** Lines end with a line feed, before which a carriage return may stand. */
function withoutReturn(text: string, start: number, end: number): number {
  return end > start && text[end - 1] === '\r' ? end - 1 : end
}
