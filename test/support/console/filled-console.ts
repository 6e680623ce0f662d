import type { VaultTab } from '../../../console/src/pages/vault/shown-vault.ts'
import { paths, type RecordType, type StreamTab } from '../../../console/src/routing/paths.ts'
import { ForeignResources } from '../foreign-resources.ts'
import { type MadeKey, newPerson, type Person } from '../people.ts'
import type { RunningService } from '../running-service.ts'
import { firedAlert } from './fired-alert.ts'

/** A page of the console. */
export interface ShownPage {
  readonly name: string
  readonly path: string
}

/** Every page, each with something on it, and the key of whose it is. */
export interface FilledConsole {
  readonly key: MadeKey
  readonly pages: readonly ShownPage[]
  /** The stream and the vault that have a bit of everything. */
  readonly streamId: string
  readonly vaultId: string
}

/** Operations whose paths have the id of a record: what makes their ids makes records. */
const madeAs: Readonly<Record<RecordType, string>> = {
  alert: '/alerts/{alertId}',
  'asset-stream': '/streams/{streamId}/metadata',
  attachment: '/attachments/{attachmentId}',
  device: '/devices/{deviceId}',
  email: '/email-configs/{configId}',
  export: '/exports/{exportId}',
  import: '/imports/{importId}',
  inbox: '/in-app/{notificationId}',
  key: '/keys/{keyId}',
  source: '/streams/{streamId}/source/run',
  template: '/templates/{templateId}',
  webhook: '/webhooks/{configId}',
}

const streamTabs: Readonly<Record<StreamTab, true>> = {
  live: true,
  history: true,
  status: true,
  definition: true,
  quarantine: true,
  access: true,
}

const vaultTabs: Readonly<Record<VaultTab, true>> = {
  latest: true,
  streams: true,
  twin: true,
  attachments: true,
  retention: true,
}

/** A name as long as people make them, with a word that nothing can break. */
const longName = `boiler ${'hall'.repeat(30)} of the plant at the river, second floor`

/** Makes one of everything that a page shows, for a user whose only key it answers with. */
export async function fillConsole(service: RunningService): Promise<FilledConsole> {
  const owner = await newPerson(service.api)
  const resources = new ForeignResources(service, owner)
  const vaultId = await madeVault(owner)
  const streamId = await madeStream(owner, vaultId)
  await firedAlert(owner, streamId)
  const records: ShownPage[] = []
  for (const type of Object.keys(madeAs) as RecordType[]) {
    const id = (await resources.pathOf(madeAs[type])).split('/')[2] ?? ''
    records.push({ name: `record ${type}`, path: paths.record(type, id) })
  }
  return {
    key: owner.key,
    streamId,
    vaultId,
    pages: [...plainPages(), ...pagesOf(streamId, vaultId), ...records],
  }
}

/** Pages whose address has no id. */
export function plainPages(): readonly ShownPage[] {
  return Object.entries(paths).flatMap(([name, path]) =>
    typeof path === 'string' ? [{ name, path }] : [],
  )
}

function pagesOf(streamId: string, vaultId: string): readonly ShownPage[] {
  return [
    ...(Object.keys(streamTabs) as StreamTab[]).map((tab) => ({
      name: `stream ${tab}`,
      path: paths.stream(streamId, tab),
    })),
    { name: 'vault', path: paths.vault(vaultId) },
    ...Object.keys(vaultTabs).map((tab) => ({
      name: `vault ${tab}`,
      path: paths.vault(vaultId, tab),
    })),
  ]
}

async function madeVault(owner: Person): Promise<string> {
  const template = { name: longName, hint: longName, required_streams: [] }
  const { id } = await made<{ id: string }>(owner, 'withKey', '/templates', template)
  const vault = { template_id: id, name: longName }
  return (await made<{ id: string }>(owner, 'withKey', '/vaults', vault)).id
}

/** It has readings, an alert that fires, and what was refused. */
async function madeStream(owner: Person, vaultId: string): Promise<string> {
  const longField = 'temperature_'.repeat(5)
  const { streamId } = await made<{ streamId: string }>(owner, 'withToken', '/streams', {
    name: longName,
    vaultId,
    type: 'iot_sensor',
    schema: {
      temperature: { type: 'number', unit: 'C' },
      [longField]: { type: 'number' },
      note: { type: 'string' },
    },
    tags: { site: longName },
    processing: { alertThresholds: { temperature: { max: 80 } } },
  })
  const nowMs = Date.now()
  const readings = Array.from({ length: 30 }, (_, at) => ({
    timestamp: new Date(nowMs - (30 - at) * 10_000).toISOString(),
    temperature: 60 + at,
    [longField]: Math.sin(at),
    note: longName,
  }))
  await made(owner, 'withToken', `/streams/${streamId}/data`, readings)
  const { status } = await owner.withToken('POST', `/streams/${streamId}/data`, {
    temperature: longName,
  })
  if (status >= 500) throw new Error(`the refused reading was answered ${status}`)
  return streamId
}

async function made<Body>(
  owner: Person,
  how: 'withKey' | 'withToken',
  path: string,
  body: object,
): Promise<Body> {
  const answer = await owner[how]<Body>('POST', path, body)
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}
