import { useRoute } from 'preact-iso/router'
import { api } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { lazyPart } from '../../components/lazy-part.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Loaded } from '../../components/states.tsx'
import { type Tab, Tabs } from '../../components/tabs.tsx'
import { paths } from '../../routing/paths.ts'
import type { ShownVault, TabProps, VaultTab } from './shown-vault.ts'
import './vault.css'
import { VaultHead } from './head/vault-head.tsx'

const LatestTab = lazyPart(() => import('./latest/latest-tab.tsx').then((tab) => tab.LatestTab))
const StreamsTab = lazyPart(() => import('./streams/streams-tab.tsx').then((tab) => tab.StreamsTab))
const TwinTab = lazyPart(() => import('./twin/twin-tab.tsx').then((tab) => tab.TwinTab))
const FilesTab = lazyPart(() => import('./files/files-tab.tsx').then((tab) => tab.FilesTab))
const RetentionTab = lazyPart(() =>
  import('./retention/retention-tab.tsx').then((tab) => tab.RetentionTab),
)

interface TabFacts {
  readonly name: string
  readonly needs: readonly string[]
}

const tabs: Readonly<Record<VaultTab, TabFacts>> = {
  latest: { name: 'Latest', needs: ['streams:read', 'data:read'] },
  streams: { name: 'Streams', needs: ['streams:read'] },
  twin: { name: 'Twin', needs: ['vaults:read'] },
  attachments: { name: 'Attachments', needs: ['attachments:read'] },
  retention: { name: 'Retention', needs: ['vaults:read'] },
}

/** How often the vault is read again: its anchor makes progress. */
const refreshMs = 5000

/** One vault: its head, and below it one of its tabs. */
export function VaultPage() {
  const { params } = useRoute()
  const vaultId = params['id'] ?? ''
  const tab = params['tab'] ?? ''
  if (!may('vaults:read')) {
    return (
      <Page title="Vault">
        <NeedsPermission scopes={['vaults:read']} what="vaults" />
      </Page>
    )
  }
  return <Vault key={vaultId} vaultId={vaultId} tab={isTab(tab) ? tab : usualTab()} />
}

function isTab(tab: string): tab is VaultTab {
  return Object.hasOwn(tabs, tab)
}

/** Readings, for those who may see them. */
function usualTab(): VaultTab {
  return may(...tabs.latest.needs) ? 'latest' : 'twin'
}

function Vault({ vaultId, tab }: { readonly vaultId: string; readonly tab: VaultTab }) {
  const path = { vaultId }
  const vault = useResource((signal) => api.call('readVault', { path, signal }), [vaultId], {
    everyMs: refreshMs,
  })
  const shown = vault.data
  const reload = () => vault.reload()
  return (
    <Page
      title={shown?.name ?? 'Vault'}
      beside={shown && <VaultHead vault={shown} reload={reload} />}
    >
      <Loaded of={vault} lines={10}>
        {(loaded) => (
          <>
            <Description vault={loaded} />
            <Tabs label="Parts of the vault" tabs={tabsOf(vaultId, tab)} />
            <TabOf tab={tab} vault={loaded} reload={reload} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Description({ vault: { description } }: { readonly vault: ShownVault }) {
  if (description === null || description === '') return null
  return (
    <p class="vault-description">
      <bdi>{description}</bdi>
    </p>
  )
}

function tabsOf(vaultId: string, here: VaultTab): readonly Tab[] {
  const names = Object.keys(tabs).filter(isTab)
  return names
    .filter((name) => may(...tabs[name].needs))
    .map((name) => ({
      name: tabs[name].name,
      href: paths.vault(vaultId, name === usualTab() ? undefined : name),
      isHere: name === here,
    }))
}

function TabOf({ tab, vault, reload }: TabProps & { readonly tab: VaultTab }) {
  const { name, needs } = tabs[tab]
  if (!may(...needs)) return <NeedsPermission scopes={needs} what={name.toLowerCase()} />
  if (tab === 'streams') return <StreamsTab vault={vault} reload={reload} />
  if (tab === 'twin') return <TwinTab vault={vault} reload={reload} />
  if (tab === 'attachments') return <FilesTab vault={vault} reload={reload} />
  if (tab === 'retention') return <RetentionTab vault={vault} reload={reload} />
  return <LatestTab vault={vault} reload={reload} />
}
