import { Time } from '../../components/time.tsx'
import { paths, type RecordType } from '../../routing/paths.ts'

/** Deeper than this, what is within is shown as JSON. */
const depthMax = 5

/** Members of a list beyond this are counted. */
const listedMax = 100

/** What the API has answered, member by member, under the names that it has there. */
export function RecordFacts({ of, depth = 0 }: { readonly of: object; readonly depth?: number }) {
  return (
    <dl class={depth === 0 ? 'facts record-facts' : 'facts record-facts inner'}>
      {Object.entries(of).map(([name, value]) => (
        <Fact key={name} name={name} value={value as unknown} depth={depth} />
      ))}
    </dl>
  )
}

interface FactProps {
  readonly name: string
  readonly value: unknown
  readonly depth: number
}

function Fact({ name, value, depth }: FactProps) {
  return (
    <>
      <dt>
        <bdi>{name}</bdi>
      </dt>
      <dd>
        <FactValue name={name} value={value} depth={depth} />
      </dd>
    </>
  )
}

function FactValue({ name, value, depth }: FactProps) {
  if (value === null || value === undefined) return <span class="soft">none</span>
  if (Array.isArray(value)) return <FactList name={name} values={value} depth={depth} />
  if (typeof value === 'object') {
    if (Object.keys(value).length === 0) return <span class="soft">none</span>
    if (depth >= depthMax) return <pre>{JSON.stringify(value, null, 2)}</pre>
    return <RecordFacts of={value} depth={depth + 1} />
  }
  if (typeof value === 'boolean') return <>{value ? 'yes' : 'no'}</>
  if (typeof value !== 'string') return <span class="tabular">{JSON.stringify(value)}</span>
  if (value === '') return <span class="soft">empty</span>
  if (isTime(value)) return <Time at={value} />
  const href = hrefOf(name, value)
  if (href !== undefined) {
    return (
      <a class="mono" href={href}>
        {value}
      </a>
    )
  }
  return <bdi class="record-text">{value}</bdi>
}

function FactList({
  name,
  values,
  depth,
}: {
  name: string
  values: readonly unknown[]
  depth: number
}) {
  if (values.length === 0) return <span class="soft">none</span>
  return (
    <ul class="record-list">
      {values.slice(0, listedMax).map((value, at) => (
        <li key={at}>
          <FactValue name={name} value={value} depth={depth + 1} />
        </li>
      ))}
      {values.length > listedMax && <li class="soft">and {values.length - listedMax} more</li>}
    </ul>
  )
}

function isTime(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
}

const records: Readonly<Record<string, RecordType>> = {
  alert: 'alert',
  attachment: 'attachment',
  device: 'device',
  export: 'export',
  import: 'import',
  template: 'template',
  webhook: 'webhook',
}

/** Where an id leads to, by the name that it has: `streamId`, `vault_ids`, `templateId`. */
function hrefOf(name: string, id: string): string | undefined {
  const kind = /^([a-z]+)(?:_ids?|Ids?)$/.exec(name)?.[1]
  if (kind === undefined) return undefined
  if (kind === 'stream')
    return name.includes('_') ? paths.record('asset-stream', id) : paths.stream(id)
  if (kind === 'vault') return paths.vault(id)
  const type = records[kind]
  return type === undefined ? undefined : paths.record(type, id)
}
