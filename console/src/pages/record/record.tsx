import { useRoute } from 'preact-iso/router'
import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../components/action.tsx'
import { NotFound } from '../../components/not-found.tsx'
import { Page } from '../../components/page.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { RecordFacts } from './record-facts.tsx'
import './record.css'
import { type RecordKind, recordKinds } from './record-kinds.ts'
import type { ShownRecord } from './shown-record.ts'

/** Anything that has an id and no page of its own: its fields, and what can be done about it. */
export function RecordPage() {
  const { type = '', id = '' } = useRoute().params
  const kinds: Readonly<Record<string, RecordKind>> = recordKinds
  const kind = Object.hasOwn(kinds, type) ? kinds[type] : undefined
  if (kind === undefined || id === '') return <NotFound />
  if (!may(kind.needs)) {
    return (
      <Page title={kind.name}>
        <Empty title="Your key may not see this">
          <p>
            It needs the permission <code>{kind.needs}</code>, which the owner of the account can
            give.
          </p>
        </Empty>
      </Page>
    )
  }
  return <Read key={`${type} ${id}`} kind={kind} id={id} />
}

function Read({ kind, id }: { readonly kind: RecordKind; readonly id: string }) {
  const record = useResource((signal) => kind.read(id, signal), [kind.name, id])
  return (
    <Page title={record.data?.title ?? kind.name}>
      <div class="stack">
        <p class="row soft">
          <span>{kind.name}</span>
          {kind.list && <a href={kind.list.href}>All: {kind.list.name}</a>}
        </p>
        <Loaded of={record} lines={12}>
          {(shown) => <Shown record={shown} onDone={() => record.reload()} />}
        </Loaded>
      </div>
    </Page>
  )
}

interface ShownProps {
  readonly record: ShownRecord
  readonly onDone: () => void
}

function Shown({ record: { facts, deeds, links }, onDone }: ShownProps) {
  const offered = deeds.filter(({ needs }) => may(needs))
  return (
    <>
      {offered.length + links.length > 0 && (
        <div class="row">
          {offered.map(({ says, done, run }) => (
            <Action key={says} done={done} run={() => run().then(onDone)}>
              {says}
            </Action>
          ))}
          {links.map(({ name, href }) => (
            <a key={href} class="button" href={href}>
              {name}
            </a>
          ))}
        </div>
      )}
      <div class="card">
        <RecordFacts of={facts} />
      </div>
    </>
  )
}
