import { parseSync } from 'vite'

/** A text that a program may show, and the line that it begins in. */
export interface ProgramText {
  readonly line: number
  readonly text: string
}

/** What stands for a value in a text. */
const value = '…'

/** Members of a node that are names of modules or keys, and no texts. */
const skipped: readonly string[] = ['source', 'key', 'typeAnnotation', 'typeParameters']

/**
 * Every text of several words in a source: strings, templates (with `…` for each value), and texts
 * of elements. Comments are none.
 */
export function textsOf(file: string, source: string): readonly ProgramText[] {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message ?? ''}`)
  const found: { readonly start: number; readonly text: string }[] = []
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) {
      for (const child of node) visit(child)
      return
    }
    if (typeof node !== 'object' || node === null) return
    const members = node as Readonly<Record<string, unknown>>
    const text = textOf(members)
    if (text !== undefined) found.push({ start: Number(members['start']), text })
    for (const [name, child] of Object.entries(members)) {
      if (!skipped.includes(name)) visit(child)
    }
  }
  visit(program)
  return found
    .filter(({ text }) => /\w\s+\w/.test(text))
    .map(({ start, text }) => ({ line: source.slice(0, start).split('\n').length, text }))
}

function textOf(node: Readonly<Record<string, unknown>>): string | undefined {
  const { type, value: own, quasis } = node
  if ((type === 'Literal' || type === 'JSXText') && typeof own === 'string') return own
  if (type !== 'TemplateLiteral') return undefined
  const parts = quasis as readonly { readonly value: { readonly cooked: string | null } }[]
  return parts.map((part) => part.value.cooked ?? '').join(value)
}
