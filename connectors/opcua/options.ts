import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import type { SourceDefinition } from '../../src/contracts/fetch-connector.ts'
import { timeNameOf } from '../../src/contracts/time-member.ts'
import { type GivenItem, type OpcUaSourceKeys, opcUaSource } from './source.ts'

/** The port of OPC UA, where an endpoint names none. */
const standardPort = 4_840

export type SecurityMode = OpcUaSourceKeys['securityMode']

/** One value of a server that is followed. */
export interface MonitoredItem {
  /**
   * Id as its definition has it: `ns=2;s=Boiler.Temperature`, or with `nsu=` the URI of a
   * namespace.
   */
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

export function parseEndpoint(endpoint: unknown): { readonly host: string; readonly port: number } {
  const { hostname, port } = new URL(String(endpoint))
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standardPort : Number(port),
  }
}

export function opcUaOptions({ source: given }: Pick<SourceDefinition, 'source'>): OpcUaOptions {
  const source = sourceOf(opcUaSource, given)
  const { endpoint, credentials = {} } = source
  const { username, password = '', certificate, privateKey } = credentials
  return {
    endpoint,
    ...parseEndpoint(endpoint),
    items: itemsOf(source),
    publishingInterval: source.publishingInterval,
    discardOldest: source.discardOldest,
    sessionTimeout: source.sessionTimeout,
    securityMode: source.securityMode,
    securityPolicy: source.securityPolicy ?? 'Basic256Sha256',
    user: username === undefined ? undefined : { userName: username, password },
    certificate,
    privateKey,
    serverCertificate: source.serverCertificate,
    timestampField: timeNameOf(source),
    isTrial: source.isTrial === true,
  }
}

function itemsOf(source: OpcUaSourceKeys): readonly MonitoredItem[] {
  const { items } = source
  const listed: readonly (string | GivenItem)[] = isList(items)
    ? items
    : Object.entries(items).map(([field, nodeId]) => ({ field, nodeId }))
  return listed.map((item) => {
    const { nodeId, field, deadband, ...own }: GivenItem =
      typeof item === 'string' ? { nodeId: item } : item
    return {
      nodeId,
      field,
      samplingInterval: own.samplingInterval ?? source.samplingInterval,
      queueSize: own.queueSize ?? source.queueSize,
      deadband,
    }
  })
}

function isList(items: OpcUaSourceKeys['items']): items is readonly (string | GivenItem)[] {
  return Array.isArray(items)
}
