import type { SourceDefinition } from '../../src/contracts/fetch-connector.ts'

/** The port of OPC UA, where an endpoint names none. */
const standardPort = 4_840

/** How often a server sends what has changed, and looks at what it is about, unless something else is said. */
const intervalMsDefault = 1_000

/** How long a server keeps a session that nothing is heard of: some end our subscription with it. */
const sessionMsDefault = 60_000

/** Values of one item that a server keeps between two notifications, or while we are away. */
const queueSizeDefault = 100

export type SecurityMode = 'none' | 'sign' | 'signAndEncrypt'

/** One value of a server that is followed. */
export interface MonitoredItem {
  /** As its definition has it: `ns=2;s=Boiler.Temperature`, or with `nsu=` the URI of a namespace. */
  readonly nodeId: string
  /** Undefined: readings say which node their value is of. */
  readonly field: string | undefined
  readonly samplingInterval: number
  readonly queueSize: number
  /** A change by no more is none: in the unit of the value. */
  readonly deadband: number | undefined
}

export interface OpcUaOptions {
  readonly endpoint: string
  readonly host: string
  readonly port: number
  readonly items: readonly MonitoredItem[]
  readonly publishingInterval: number
  readonly discardOldest: boolean
  readonly sessionTimeout: number
  readonly securityMode: SecurityMode
  readonly securityPolicy: string
  readonly user: { readonly userName: string; readonly password: string } | undefined
  /** PEM: what the server knows this application by. */
  readonly certificate: string | undefined
  readonly privateKey: string | undefined
  /** PEM, or its SHA-256 as hexadecimal digits. */
  readonly serverCertificate: string | undefined
  readonly timestampField: string
  readonly isTrial: boolean
}

interface ItemKeys {
  readonly nodeId: string
  readonly field?: string
  readonly samplingInterval?: number
  readonly queueSize?: number
  readonly deadband?: number
}

/** The keys of a source that this connector knows, as the domain of data streams has checked them. */
interface OpcUaKeys {
  readonly endpoint: string
  readonly items: Readonly<Record<string, string>> | readonly (string | ItemKeys)[]
  readonly samplingInterval?: number
  readonly publishingInterval?: number
  readonly queueSize?: number
  readonly discardOldest?: boolean
  readonly sessionTimeout?: number
  readonly securityMode?: SecurityMode
  readonly securityPolicy?: string
  readonly credentials?: Readonly<Record<string, string | undefined>>
  readonly serverCertificate?: string
  readonly timestampField?: string
  /** Never part of a definition. */
  readonly isTrial?: boolean
}

export function parseEndpoint(endpoint: unknown): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(String(endpoint))
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standardPort : Number(port),
  }
}

export function opcUaOptions({ source }: Pick<SourceDefinition, 'source'>): OpcUaOptions {
  const keys = source as unknown as OpcUaKeys
  const { username, password = '', certificate, privateKey } = keys.credentials ?? {}
  return {
    endpoint: keys.endpoint,
    ...parseEndpoint(keys.endpoint),
    items: itemsOf(keys),
    publishingInterval: keys.publishingInterval ?? intervalMsDefault,
    discardOldest: keys.discardOldest ?? true,
    sessionTimeout: keys.sessionTimeout ?? sessionMsDefault,
    securityMode: keys.securityMode ?? 'none',
    securityPolicy: keys.securityPolicy ?? 'Basic256Sha256',
    user: username === undefined ? undefined : { userName: username, password },
    certificate,
    privateKey,
    serverCertificate: keys.serverCertificate,
    timestampField: keys.timestampField ?? 'timestamp',
    isTrial: keys.isTrial === true,
  }
}

function itemsOf(keys: OpcUaKeys): readonly MonitoredItem[] {
  const { items } = keys
  const listed: readonly (string | ItemKeys)[] = isList(items)
    ? items
    : Object.entries(items).map(([field, nodeId]) => ({ field, nodeId }))
  return listed.map((item) => {
    const { nodeId, field, deadband, ...own }: ItemKeys =
      typeof item === 'string' ? { nodeId: item } : item
    return {
      nodeId,
      field,
      samplingInterval: own.samplingInterval ?? keys.samplingInterval ?? intervalMsDefault,
      queueSize: own.queueSize ?? keys.queueSize ?? queueSizeDefault,
      deadband,
    }
  })
}

function isList(items: OpcUaKeys['items']): items is readonly (string | ItemKeys)[] {
  return Array.isArray(items)
}
