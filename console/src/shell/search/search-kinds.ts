import { api, keyApi } from '../../api/client.ts'
import { failureOf } from '../../api/failure.ts'
import { may } from '../../api/session.ts'
import { paths, type RecordType } from '../../routing/paths.ts'
import { type Found, foundMax, isIn, isKeyId, isWholeId } from './found.ts'

/** Something that is searched for at the service. */
export interface SearchKind {
  readonly name: string
  readonly needs: readonly string[]
  readonly find: (wanted: string, signal: AbortSignal) => Promise<readonly Found[]>
}

/** Webhooks have no search of their own: these are looked through here. */
const webhooksLookedAt = 100

export const searchKinds: readonly SearchKind[] = [
  { name: 'Streams', needs: ['streams:read'], find: findStreams },
  { name: 'Vaults', needs: ['vaults:read'], find: findVaults },
  { name: 'Devices', needs: ['streams:read'], find: findDevices },
  { name: 'Webhooks', needs: ['webhooks:read'], find: findWebhooks },
  { name: 'By id', needs: [], find: findById },
]

async function findStreams(contains: string, signal: AbortSignal): Promise<readonly Found[]> {
  const streams = await api.call('listStreams', { query: { contains, limit: foundMax }, signal })
  return streams.map(({ name, streamId }) => ({
    name,
    beside: streamId,
    href: paths.stream(streamId),
  }))
}

async function findVaults(contains: string, signal: AbortSignal): Promise<readonly Found[]> {
  const vaults = await api.call('listVaults', { query: { contains, limit: foundMax }, signal })
  return vaults.map(({ name, vaultId }) => ({ name, beside: vaultId, href: paths.vault(vaultId) }))
}

async function findDevices(contains: string, signal: AbortSignal): Promise<readonly Found[]> {
  const devices = await api.call('listDevices', { query: { contains, limit: foundMax }, signal })
  return devices.map(({ name, id }) => ({ name, beside: id, href: paths.record('device', id) }))
}

async function findWebhooks(wanted: string, signal: AbortSignal): Promise<readonly Found[]> {
  const webhooks = await api.call('listBearerWebhooks', {
    query: { limit: webhooksLookedAt },
    signal,
  })
  return webhooks
    .filter(({ url, webhookId }) => isIn(wanted, url, webhookId))
    .slice(0, foundMax)
    .map(({ url, webhookId }) => ({
      name: url,
      beside: webhookId,
      href: paths.record('webhook', webhookId),
    }))
}

interface Held {
  readonly type: RecordType
  readonly needs: string
  readonly read: (id: string, signal: AbortSignal) => Promise<string>
}

/** What has ids, and no search: each is asked for the one. */
const held: readonly Held[] = [
  {
    type: 'alert',
    needs: 'data:read',
    read: async (alertId, signal) =>
      `alert ${(await api.call('readAlert', { path: { alertId }, signal })).ruleId}`,
  },
  {
    type: 'template',
    needs: 'vaults:read',
    read: async (templateId, signal) =>
      (await api.call('readTemplate', { path: { templateId }, signal })).name,
  },
  {
    type: 'asset-stream',
    needs: 'streams:read',
    read: async (streamId, signal) =>
      (await keyApi.call('readStream', { path: { streamId }, signal })).asset_code,
  },
  {
    type: 'attachment',
    needs: 'attachments:read',
    read: async (attachmentId, signal) =>
      (await api.call('readAttachment', { path: { attachmentId }, signal })).name,
  },
  {
    type: 'export',
    needs: 'data:read',
    read: async (exportId, signal) =>
      `export, ${(await api.call('getExport', { path: { exportId }, signal })).state}`,
  },
  {
    type: 'import',
    needs: 'data:read',
    read: async (importId, signal) =>
      `import, ${(await api.call('getImport', { path: { importId }, signal })).state}`,
  },
]

const heldKey: Held = {
  type: 'key',
  needs: 'keys:admin',
  read: async (keyId, signal) => (await api.call('readKey', { path: { keyId }, signal })).name,
}

async function findById(wanted: string, signal: AbortSignal): Promise<readonly Found[]> {
  const id = wanted.trim().toLowerCase()
  const kinds = isWholeId(id) ? held : isKeyId(id) ? [heldKey] : []
  const asked = kinds.filter(({ needs }) => may(needs))
  const found = await Promise.all(
    asked.map(async ({ type, read }) => {
      try {
        return { name: await read(id, signal), beside: type, href: paths.record(type, id) }
      } catch (error) {
        // It is the id of something else, which is what most of them are.
        if (failureOf(error).status === 404) return undefined
        throw error
      }
    }),
  )
  return found.filter((one) => one !== undefined)
}
