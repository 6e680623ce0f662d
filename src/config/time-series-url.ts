/** Where the time series are kept. */
export type TimeSeriesConfig =
  | { readonly kind: 'duckdb' }
  | {
      readonly kind: 'questdb'
      readonly secure: boolean
      readonly host: string
      readonly port: number
      readonly user: { readonly name: string; readonly password: string } | undefined
      /** Before the names of all tables; empty, or ends with an underscore. */
      readonly prefix: string
    }

/** What `STREAMVAULT_TIMESERIES_URL` may look like. */
export const timeSeriesForms = 'duckdb or questdb://[user:password@]host:port[/name]'

const portDefault = 9000

/** @returns undefined when it is nothing of that */
export function parseTimeSeriesUrl(text: string): TimeSeriesConfig | undefined {
  if (text === 'duckdb') return { kind: 'duckdb' }
  if (!/^questdbs?:\/\//.test(text) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const name = /^\/?([a-z][a-z0-9_]{0,30})?$/.exec(url.pathname)
  const isPlain = url.search === '' && url.hash === '' && url.hostname !== ''
  const hasUser = url.username !== ''
  if (!name || !isPlain || hasUser !== (url.password !== '')) return undefined
  return {
    kind: 'questdb',
    secure: url.protocol === 'questdbs:',
    // Without the brackets of an IPv6 address, which sockets do not take.
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? portDefault : Number(url.port),
    user: hasUser
      ? { name: decodeURIComponent(url.username), password: decodeURIComponent(url.password) }
      : undefined,
    prefix: name[1] === undefined ? '' : `${name[1]}_`,
  }
}
