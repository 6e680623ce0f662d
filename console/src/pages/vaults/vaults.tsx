import { Plus } from 'lucide'
import type { Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { nextCursorIn } from '../../api/next-page.ts'
import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { AnchorState } from '../../components/anchor-state.tsx'
import { Icon } from '../../components/icon.tsx'
import { NameLink } from '../../components/name-link.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Pager } from '../../components/pager.tsx'
import { Empty, Loaded } from '../../components/states.tsx'
import { TextFilter } from '../../components/text-filter.tsx'
import { Time } from '../../components/time.tsx'
import { paths } from '../../routing/paths.ts'
import { useQuery } from '../../routing/query.ts'
import './vaults.css'

type ListedVault = Operations['listVaults']['answer'][number]

const pageSize = 50
/** Anchors of new vaults take a few seconds. */
const refreshMs = 10_000

/** All vaults: found by a part of their names, with how far they are anchored. */
export function Vaults() {
  const beside = may('vaults:write') && (
    <>
      <span class="spring" />
      <a class="button primary" href={paths.newVault}>
        <Icon of={Plus} />
        New vault
      </a>
    </>
  )
  return (
    <Page title="Vaults" beside={beside}>
      {may('vaults:read') ? <List /> : <NeedsPermission scopes={['vaults:read']} what="vaults" />}
    </Page>
  )
}

function List() {
  const query = useQuery()
  const asked = {
    contains: query.get('q') || undefined,
    cursor: query.get('cursor') || undefined,
    limit: pageSize,
  }
  const page = useResource(
    async (signal) => {
      const { answer, headers } = await api.callRaw('listVaults', { query: asked, signal })
      return { vaults: answer, next: nextCursorIn(headers) }
    },
    [asked],
    { everyMs: refreshMs },
  )
  return (
    <div class="stack">
      <search class="row">
        <TextFilter label="Name or id" name="q" />
      </search>
      <Loaded
        of={page}
        lines={10}
        isEmpty={({ vaults }) => vaults.length === 0}
        empty={<Nothing isFiltered={asked.contains !== undefined} />}
      >
        {({ vaults, next }) => (
          <>
            <Table vaults={vaults} />
            <Pager
              first={asked.cursor === undefined ? undefined : query.linkTo({ cursor: undefined })}
              next={next === undefined ? undefined : query.linkTo({ cursor: next })}
            />
          </>
        )}
      </Loaded>
    </div>
  )
}

function Table({ vaults }: { readonly vaults: readonly ListedVault[] }) {
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Vaults</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Ledger</th>
            <th scope="col">Seen by</th>
            <th scope="col">Made</th>
          </tr>
        </thead>
        <tbody>
          {vaults.map((vault) => (
            <Row key={vault.vaultId} vault={vault} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ vault }: { readonly vault: ListedVault }) {
  const { vaultId, name, description, status, ledger, createdAt } = vault
  return (
    <tr data-row>
      <td class="title vaults-name">
        <div>
          <NameLink href={paths.vault(vaultId)} name={name} />
          {description !== null && (
            <div class="soft vaults-description" title={description}>
              <bdi>{description}</bdi>
            </div>
          )}
        </div>
      </td>
      <td data-label="State">
        <AnchorState status={status} />
      </td>
      <td data-label="Ledger">{ledger}</td>
      <td data-label="Seen by">{vault.public ? 'all users' : 'only you'}</td>
      <td data-label="Made">
        <Time at={createdAt} as="ago" />
      </td>
    </tr>
  )
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No vault has this in its name">
        <p>
          <a href={paths.vaults}>Show all vaults</a>
        </p>
      </Empty>
    )
  }
  return (
    <Empty title="No vaults yet">
      <p>
        A vault is the thing that readings and files are about, such as a machine or a building. It
        is written onto a ledger, so that anyone can check later what was there, and when.
      </p>
      {may('vaults:write') ? (
        <div class="row">
          <a class="button primary" href={paths.newVault}>
            Make the first one
          </a>
        </div>
      ) : (
        <p class="soft">A key with vaults:write can make one.</p>
      )}
    </Empty>
  )
}
