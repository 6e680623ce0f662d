/** Addresses of pages: the only place that knows them. Ids and words are encoded here. */
export const paths = {
  overview: '/console/',
  streams: '/console/streams',
  newStream: '/console/streams/new',
  stream: (id: string, tab?: StreamTab) =>
    `/console/streams/${encodeURIComponent(id)}${tab === undefined || tab === 'live' ? '' : `/${tab}`}`,
  quarantine: '/console/quarantine',
  vaults: '/console/vaults',
  newVault: '/console/vaults/new',
  vault: (id: string, tab?: string) =>
    `/console/vaults/${encodeURIComponent(id)}${tab === undefined ? '' : `/${tab}`}`,
  alerts: '/console/alerts',
  sources: '/console/sources',
  webhooks: '/console/webhooks',
  inbox: '/console/inbox',
  // At /console/sessions there is an operation, which a page that is loaded again must not meet.
  sessions: '/console/signed-in',
  record: (type: RecordType, id: string) => `/console/record/${type}/${encodeURIComponent(id)}`,
} as const

export type StreamTab = 'live' | 'history' | 'status' | 'definition' | 'quarantine' | 'access'

/** What has no page of its own yet, and is shown as the API gives it. */
export type RecordType =
  | 'alert'
  | 'asset-stream'
  | 'attachment'
  | 'device'
  | 'email'
  | 'export'
  | 'import'
  | 'inbox'
  | 'key'
  | 'source'
  | 'template'
  | 'webhook'

/** An address with a query; what is undefined or empty is left out. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | undefined>>,
): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const text = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()
  return text === '' ? path : `${path}?${text}`
}
