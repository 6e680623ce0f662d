import { unsafeContent } from '../../src/core/json-safety.ts'
import { PostgresColumns } from '../database/postgres-values.ts'

/** A row as JSON. */
export interface RowText {
  readonly text: string
  /** Whether a decoder takes it: what it does not take must not have others refused with it. */
  readonly isSafe: boolean
}

/** How rows of a table are read, until it is changed. */
export interface TableShape {
  /** How the texts of values stand in JSON, in the order of the columns. */
  readonly valueTexts: readonly ((text: string) => string)[]
  /** @param values texts of JSON by the names of columns: what is NULL, or was not sent, is left out */
  rowOf(values: Readonly<Record<string, unknown>>): RowText
}

export interface NamedColumn {
  readonly name: string
  readonly typeOid: number
}

export interface ShapeNeeds {
  /** Types of the database that stand for others, by their ids. */
  readonly baseTypes: ReadonlyMap<number, number>
  readonly timezone: string
  readonly timestampField: string
}

/** Types json and jsonb, and lists of them: they can hold what a decoder refuses, such as a key twice. */
const freeForms = [114, 3802, 199, 3807]

/** Integers of so many digits may be more than a double can hold. */
const longNumber = /\d{16}/

/** How the values of columns stand in JSON, by their texts. */
export function tableShape(columns: readonly NamedColumn[], needs: ShapeNeeds): TableShape {
  const fields = columns.map(({ name, typeOid }) => {
    return { name, dataTypeID: needs.baseTypes.get(typeOid) ?? typeOid }
  })
  const isAnyFreeForm = fields.some(({ dataTypeID }) => freeForms.includes(dataTypeID))
  const written = new PostgresColumns(needs).of(fields)
  const names = columns.map(({ name }) => ({ name, key: `${JSON.stringify(name)}:` }))
  return {
    valueTexts: written.map((column) => (text: string) => column.json(text)),
    rowOf(values) {
      let text = ''
      for (const { name, key } of names) {
        const value = values[name]
        if (typeof value !== 'string') continue
        text += text === '' ? key + value : `,${key}${value}`
      }
      const isPlain = !isAnyFreeForm && !longNumber.test(text)
      const row = `{${text}}`
      return { text: row, isSafe: isPlain || isTaken(row) }
    },
  }
}

/** Whether a decoder would take it as one of a batch. */
function isTaken(row: string): boolean {
  const batch = `[${row}]`
  return unsafeContent(batch, JSON.parse(batch)) === undefined
}
