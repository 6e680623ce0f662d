import { Plus } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import { Field } from '../../../components/field.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Empty } from '../../../components/states.tsx'
import type { ReadDefinition } from '../../../editor/definition.ts'
import { useQuery } from '../../../routing/query.ts'
import { FieldForm } from './field-form.tsx'
import {
  boundsOf,
  changedField,
  type FieldRow,
  fieldTypes,
  fromText,
  rowsOf,
  withField,
  withoutField,
} from './fields.ts'

type Json = Readonly<Record<string, unknown>>

export interface FieldsTableProps {
  readonly read: ReadDefinition
  readonly isWritable: boolean
  readonly problems: readonly { readonly path: string; readonly message: string }[]
  readonly onSchema: (schema: Json) => void
}

/** Fewer than these are found by looking. */
const filteredFrom = 20

/** The fields of a draft, one a row; the row that is changed opens. */
export function FieldsTable({ read, isWritable, problems, onSchema }: FieldsTableProps) {
  const query = useQuery()
  const [open, setOpen] = useState<string>()
  if (!read.ok) {
    return (
      <div class="notice warn">
        <p>
          The definition cannot be read as it is typed: {read.problem}.{' '}
          <a href={query.linkTo({ view: 'json' })}>Correct it as JSON</a>
        </p>
      </div>
    )
  }
  const { schema } = read.definition
  const rows = rowsOf(schema)
  const wanted = query.get('find').toLowerCase()
  const shown = rows.filter(({ name }) => name.toLowerCase().includes(wanted))
  return (
    <>
      {rows.length > filteredFrom && (
        <Field
          label="Find a field"
          hint={`${shown.length} of ${rows.length} fields`}
          control={(tied) => (
            <input
              {...tied}
              type="search"
              value={query.get('find')}
              onInput={(event) => query.set({ find: event.currentTarget.value })}
            />
          )}
        />
      )}
      {rows.length === 0 ? (
        <NoFields />
      ) : (
        <Rows
          rows={shown}
          isWritable={isWritable}
          problems={problems}
          schema={schema}
          onSchema={onSchema}
          open={open}
          onOpen={setOpen}
        />
      )}
      {isWritable && (
        <AddField
          schema={schema}
          onAdd={(name, type) => {
            onSchema(withField(schema, [name], { type }))
            setOpen(name)
          }}
        />
      )}
    </>
  )
}

function NoFields() {
  return (
    <Empty title="No fields yet">
      <p>
        Without fields every member of a reading is kept beside them, and none can be drawn, queried
        or checked. Name the first one, or paste a sample below.
      </p>
    </Empty>
  )
}

interface RowsProps extends Omit<FieldsTableProps, 'read'> {
  readonly rows: readonly FieldRow[]
  readonly schema: Json
  readonly open: string | undefined
  readonly onOpen: (open: string | undefined) => void
}

const columns = ['Field', 'Type', 'Unit', 'Required', 'Range', 'Path'] as const

function Rows({ rows, isWritable, problems, schema, onSchema, open, onOpen }: RowsProps) {
  return (
    <div class="table-wrap">
      <table class="data cards definition-fields">
        <caption class="visually-hidden">Fields of a reading</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const id = row.keys.join('\n')
            return (
              <Row
                key={id}
                row={row}
                isWritable={isWritable}
                isOpen={open === id}
                problems={problemsOf(row, problems)}
                onOpen={(isOpen) => onOpen(isOpen ? id : undefined)}
                onChange={(definition) => onSchema(withField(schema, row.keys, definition))}
                onRemove={() => {
                  onOpen(undefined)
                  onSchema(withoutField(schema, row.keys))
                  // Its row is gone, with what had the focus.
                  document.querySelector<HTMLElement>('.definition-add input')?.focus()
                }}
              />
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly row: FieldRow
  readonly isWritable: boolean
  readonly isOpen: boolean
  readonly problems: readonly string[]
  readonly onOpen: (isOpen: boolean) => void
  readonly onChange: (definition: Json) => void
  readonly onRemove: () => void
}

function Row({ row, isWritable, isOpen, problems, onOpen, onChange, onRemove }: RowProps) {
  const { name, definition } = row
  const { min, max } = boundsOf(definition)
  const hasRange = min !== undefined || max !== undefined
  const opener = useRef<HTMLButtonElement>(null)
  return (
    <>
      <tr data-row>
        <td class="title">
          {isWritable ? (
            <button
              ref={opener}
              type="button"
              class="definition-field-name"
              aria-expanded={isOpen}
              onClick={() => onOpen(!isOpen)}
            >
              <bdi>{name}</bdi>
            </button>
          ) : (
            <bdi class="mono">{name}</bdi>
          )}
          {problems.map((problem) => (
            <p key={problem} class="definition-problem" role="alert">
              {problem}
            </p>
          ))}
        </td>
        <td data-label="Type">{textOf(definition['type'])}</td>
        <td data-label="Unit">{textOf(definition['unit'])}</td>
        <td data-label="Required">{definition['required'] === true ? 'yes' : 'no'}</td>
        <td data-label="Range">
          {hasRange ? `${textOf(min ?? '')} … ${textOf(max ?? '')}` : enumText(definition)}
        </td>
        <td data-label="Path" class="mono">
          {fromText(definition)}
        </td>
      </tr>
      {isOpen && (
        <tr class="definition-open">
          <td colSpan={6}>
            <FieldForm
              name={name}
              definition={definition}
              onChange={(change) => onChange(changedField(definition, change))}
              onRemove={onRemove}
              onClose={() => {
                onOpen(false)
                opener.current?.focus()
              }}
            />
          </td>
        </tr>
      )}
    </>
  )
}

function AddField({
  schema,
  onAdd,
}: {
  readonly schema: Json
  readonly onAdd: (name: string, type: string) => void
}) {
  const [name, setName] = useState('')
  const [type, setType] = useState<string>('number')
  const isTaken = Object.hasOwn(schema, name.trim())
  return (
    <form
      class="row definition-add"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() === '' || isTaken) return
        onAdd(name.trim(), type)
        setName('')
      }}
    >
      <Field
        label="New field"
        problem={isTaken ? 'there is a field of this name' : undefined}
        control={(tied) => (
          <input
            {...tied}
            value={name}
            spellcheck={false}
            autocapitalize="off"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        )}
      />
      <Field
        label="Type"
        control={(tied) => (
          <select {...tied} value={type} onChange={(event) => setType(event.currentTarget.value)}>
            {fieldTypes.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        )}
      />
      <button type="submit" class="button" disabled={name.trim() === '' || isTaken}>
        <Icon of={Plus} />
        Add field
      </button>
    </form>
  )
}

/** What the service says of a field; of what is within it says the row of that. */
function problemsOf({ keys }: FieldRow, problems: FieldsTableProps['problems']): readonly string[] {
  const place = `schema.${keys.join('.')}`
  const isOwn = (path: string) =>
    path === place ||
    (path.startsWith(`${place}.`) && !/^(?:fields|items)\b/.test(path.slice(place.length + 1)))
  return problems.filter(({ path }) => isOwn(path)).map(({ message }) => message)
}

function enumText({ enum: values }: Json): string {
  if (!Array.isArray(values)) return ''
  const [first, ...rest] = values as unknown[]
  return `one of ${values.length}: ${textOf(first)}${rest.length > 0 ? ', …' : ''}`
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
