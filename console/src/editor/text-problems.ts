import { placeOfDotted } from '../formats/json-place.ts'
import { readJson } from '../formats/json-tree.ts'

/** What is wrong with a value of a text, which a path leads to. */
export interface TextProblem {
  readonly path: string
  readonly message: string
}

/** The same as an editor marks it. */
export interface MarkedProblem {
  readonly from: number
  readonly to: number
  readonly severity: 'error'
  readonly message: string
}

/** Marks of a text: where it is no JSON, or else what others say of its values. */
export function diagnosticsOf(text: string, problems: readonly TextProblem[]): MarkedProblem[] {
  const read = readJson(text)
  if (!read.ok) {
    if (text.trim() === '') return []
    const { at, message } = read.problem
    const from = Math.min(at, Math.max(0, text.length - 1))
    return [{ from, to: Math.min(from + 1, text.length), severity: 'error', message }]
  }
  return problems.map(({ path, message }) => {
    const { start, end, node, isWhole } = placeOfDotted(read.root, path)
    // What is missing is marked at the bracket of what would hold it: all of it would be red.
    const to = isWhole && node.is === 'scalar' ? end : Math.min(start + 1, end)
    return {
      from: start,
      to,
      severity: 'error',
      message: path === '' ? message : `${path}: ${message}`,
    }
  })
}
