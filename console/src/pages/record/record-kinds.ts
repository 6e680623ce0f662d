import { api, keyApi } from '../../api/client.ts'
import { failureOf } from '../../api/failure.ts'
import { may } from '../../api/session.ts'
import { paths, type RecordType } from '../../routing/paths.ts'
import { readInboxEntry } from './inbox-entry.ts'
import type { RecordDeed, ShownRecord } from './shown-record.ts'

export interface RecordKind {
  /** What one of them is called. */
  readonly name: string
  /** The page that has all of them, where there is one. */
  readonly list: { readonly name: string; readonly href: string } | undefined
  readonly needs: string
  readonly read: (id: string, signal: AbortSignal) => Promise<ShownRecord>
}

export const recordKinds: Readonly<Record<RecordType, RecordKind>> = {
  alert: {
    name: 'Alert',
    list: { name: 'Alerts', href: paths.alerts },
    needs: 'data:read',
    read: async (alertId, signal) => {
      const alert = await api.call('readAlert', { path: { alertId }, signal })
      const deeds = alert.state === 'cleared' ? [] : alertDeeds(alertId, alert.state === 'firing')
      const streamName = await nameOfStream(alert.streamId, signal)
      const link = { name: 'Its stream', href: paths.stream(alert.streamId) }
      return {
        title: streamName === undefined ? alert.ruleId : `${alert.ruleId}: ${streamName}`,
        facts: alert,
        deeds,
        links: streamName === gone ? [] : [link],
      }
    },
  },
  'asset-stream': {
    name: 'Stream of a vault',
    list: undefined,
    needs: 'streams:read',
    read: async (streamId, signal) => {
      const stream = await keyApi.call('readStream', { path: { streamId }, signal })
      return plain(stream.asset_code, stream)
    },
  },
  attachment: {
    name: 'Attachment',
    list: undefined,
    needs: 'attachments:read',
    read: async (attachmentId, signal) => {
      const attachment = await api.call('readAttachment', { path: { attachmentId }, signal })
      return plain(attachment.name, attachment)
    },
  },
  device: {
    name: 'Device',
    list: undefined,
    needs: 'streams:read',
    read: async (deviceId, signal) => {
      const device = await api.call('readDevice', { path: { deviceId }, signal })
      return plain(device.name, device)
    },
  },
  email: {
    name: 'Address for mails',
    list: undefined,
    needs: 'notifications:read',
    read: async (configId, signal) => {
      const recipient = await api.call('readEmailRecipient', { path: { configId }, signal })
      return plain(recipient.email, recipient)
    },
  },
  export: {
    name: 'Export',
    list: undefined,
    needs: 'data:read',
    read: async (exportId, signal) => {
      const made = await api.call('getExport', { path: { exportId }, signal })
      return plain(`Export, ${made.state}`, made)
    },
  },
  import: {
    name: 'Import',
    list: undefined,
    needs: 'data:read',
    read: async (importId, signal) => {
      const made = await api.call('getImport', { path: { importId }, signal })
      return plain(`Import, ${made.state}`, made)
    },
  },
  inbox: {
    name: 'Entry of the inbox',
    list: { name: 'Inbox', href: paths.inbox },
    needs: 'notifications:read',
    read: readInboxEntry,
  },
  key: {
    name: 'Key',
    list: undefined,
    needs: 'keys:admin',
    read: async (keyId, signal) => {
      const key = await api.call('readKey', { path: { keyId }, signal })
      return plain(key.name, key)
    },
  },
  source: {
    name: 'Source',
    list: { name: 'Sources', href: paths.sources },
    needs: 'streams:read',
    read: readSource,
  },
  template: {
    name: 'Template',
    list: undefined,
    needs: 'vaults:read',
    read: async (templateId, signal) => {
      const template = await api.call('readTemplate', { path: { templateId }, signal })
      return plain(template.name, template)
    },
  },
  webhook: {
    name: 'Webhook',
    list: { name: 'Webhooks', href: paths.webhooks },
    needs: 'webhooks:read',
    read: readWebhook,
  },
}

/** In place of the name of a stream that is not there any more. */
const gone = 'its stream is gone'

/** Undefined where it may not be read. */
async function nameOfStream(streamId: string, signal: AbortSignal): Promise<string | undefined> {
  if (!may('streams:read')) return undefined
  try {
    return (await api.call('readStream', { path: { streamId }, signal })).name
  } catch (error) {
    if (failureOf(error).status === 404) return gone
    throw error
  }
}

function plain(title: string, facts: object): ShownRecord {
  return { title, facts, deeds: [], links: [] }
}

function alertDeeds(alertId: string, isFiring: boolean): readonly RecordDeed[] {
  const path = { alertId }
  const acknowledge: RecordDeed = {
    says: 'Acknowledge',
    done: 'Acknowledged',
    needs: 'data:write',
    run: () => api.call('acknowledgeAlert', { path }),
  }
  const clear: RecordDeed = {
    says: 'Resolve',
    done: 'Resolved',
    needs: 'data:write',
    run: () => api.call('clearAlert', { path }),
  }
  return isFiring ? [acknowledge, clear] : [clear]
}

/** The source of a stream, and how it does. */
async function readSource(streamId: string, signal: AbortSignal): Promise<ShownRecord> {
  const path = { streamId }
  const [stream, status] = await Promise.all([
    api.call('readStream', { path, signal }),
    api.call('readStreamStatus', { path, signal }),
  ])
  const run: RecordDeed = {
    says: 'Run now',
    done: 'A round has begun',
    needs: 'streams:write',
    run: () => api.call('runSource', { path }),
  }
  return {
    title: stream.name,
    facts: { streamId, type: stream.type, status: status.source ?? null, source: stream.source },
    deeds: status.source === undefined ? [] : [run],
    links: [
      { name: 'Its stream', href: paths.stream(streamId) },
      { name: 'Its definition', href: paths.stream(streamId, 'definition') },
    ],
  }
}

async function readWebhook(configId: string, signal: AbortSignal): Promise<ShownRecord> {
  const path = { configId }
  const webhook = await api.call('readWebhook', { path, signal })
  const enable: RecordDeed = {
    says: 'Enable',
    done: 'Enabled',
    needs: 'webhooks:write',
    run: () => api.call('changeWebhook', { path, body: { status: 'ACTIVE' } }),
  }
  const recover: RecordDeed = {
    says: 'Enable, and send what it has missed',
    done: 'Enabled, and what it has missed is on its way',
    needs: 'webhooks:write',
    run: () => enableAndRecover(configId, webhook.last_delivery_at ?? webhook.created_at),
  }
  const pause: RecordDeed = {
    says: 'Pause',
    done: 'Paused',
    needs: 'webhooks:write',
    run: () => api.call('changeWebhook', { path, body: { status: 'PAUSED' } }),
  }
  const test: RecordDeed = {
    says: 'Send a test',
    done: 'It is on its way: its deliveries show how it ends',
    needs: 'webhooks:write',
    run: () => api.call('testWebhook', { path, body: {} }),
  }
  const { secret: _, ...facts } = webhook
  return {
    title: webhook.url,
    facts,
    deeds: webhook.status === 'ACTIVE' ? [test, pause] : [recover, enable],
    links: [],
  }
}

/** Recovering goes on in portions until nothing is left. */
async function enableAndRecover(configId: string, from: string): Promise<void> {
  const path = { configId }
  await api.call('changeWebhook', { path, body: { status: 'ACTIVE' } })
  for (let since: string | null = from; since !== null; ) {
    const portion: { readonly next_since: string | null } = await api.call('recoverDeliveries', {
      path,
      body: { since },
    })
    since = portion.next_since
  }
}
