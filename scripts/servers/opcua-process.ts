import { DataType, StatusCodes, Variant, VariantArrayType } from 'node-opcua-client'
import { OPCUAServer } from 'node-opcua-server'

/**
 * A server of OPC UA as a process of its own: `node opcua-process.ts OPTIONS`, with JSON of OpcUaServerOptions. It writes
 * `ready` to its parent, and takes orders of it.
 */

export interface OpcUaServerOptions {
  readonly port: number
  /** Nodes `ns=1;s=NAME` by their names; a number stands for so many of Double: `item-0`, `item-1` ... */
  readonly variables: Readonly<Record<string, keyof typeof DataType>> | number
  /** Undefined: anybody may come. */
  readonly user?: undefined | { readonly username: string; readonly password: string }
  /** How often all variables that are numbers get a new value. */
  readonly changeEveryMs?: number
  /** Whose first order starts the changes; undefined: they start at once. */
  readonly changesFrom?: string
  /** How many times, at most. */
  readonly changesMax?: number
}

/** Sets variables, each in its turn, with what `null` stands for no value. */
export interface SetOrder {
  readonly id: number
  readonly values: readonly {
    readonly name: string
    readonly value: unknown
    /** RFC 3339, to the millisecond. */
    readonly time?: string
    readonly status?: string
  }[]
}

const { port, variables, user, changeEveryMs, changesMax, changesFrom }: OpcUaServerOptions =
  JSON.parse(process.argv[2] ?? '{}')

const named: Readonly<Record<string, string>> =
  typeof variables === 'number'
    ? Object.fromEntries(
        Array.from({ length: variables }, (_, index) => [`item-${index}`, 'Double']),
      )
    : variables

const server = new OPCUAServer({
  port,
  host: '127.0.0.1',
  allowAnonymous: user === undefined,
  disableDiscovery: true,
  serverCapabilities: {
    minSupportedSampleRate: 0,
    maxSessions: 50,
    maxMonitoredItemsPerSubscription: 20_000,
  },
  ...(user !== undefined && {
    userManager: {
      isValidUser: (name: string, password: string) =>
        name === user.username && password === user.password,
    },
  }),
})
await server.initialize()
const space = server.engine.addressSpace
if (!space) throw new Error('the server has no address space')
const nodes = new Map(
  Object.entries(named).map(([name, dataType]) => {
    const node = space.getOwnNamespace().addVariable({
      organizedBy: space.rootFolder.objects,
      browseName: name,
      nodeId: `s=${name}`,
      dataType,
      minimumSamplingInterval: 0,
      value: new Variant({ dataType: DataType.Null }),
    })
    node.setValueFromSource({ dataType: DataType.Null }, StatusCodes.BadWaitingForInitialData)
    return [name, { node, dataType }] as const
  }),
)
await server.start()

process.on('message', ({ id, values }: SetOrder) => {
  for (const order of values) {
    set(order)
    if (order.name === changesFrom) change()
  }
  process.send?.({ id })
})
process.once('SIGTERM', () => {
  void server.shutdown(0).then(() => process.exit(0))
})
process.send?.('ready')
console.log('ready')

if (changesFrom === undefined) change()

function change(): void {
  if (changeEveryMs === undefined) return
  let round = 0
  const timer = setInterval(() => {
    round++
    const time = new Date()
    for (const [name] of nodes) set({ name, value: round, time: time.toISOString() })
    if (round === changesMax) clearInterval(timer)
  }, changeEveryMs)
}

function set({ name, value, time, status = 'Good' }: SetOrder['values'][number]): void {
  const known = nodes.get(name)
  if (known === undefined) throw new Error(`there is no variable ${name}`)
  const dataType = value === null ? DataType.Null : DataType[known.dataType as 'Double']
  const arrayType = Array.isArray(value) ? VariantArrayType.Array : VariantArrayType.Scalar
  known.node.setValueFromSource(
    new Variant({ dataType, arrayType, value: wireValue(known.dataType, value) }),
    (StatusCodes as unknown as Readonly<Record<string, typeof StatusCodes.Good>>)[status],
    time === undefined ? new Date() : new Date(time),
  )
}

function wireValue(dataType: string, value: unknown): unknown {
  if (value === null) return null
  if (dataType === 'Int64' || dataType === 'UInt64') {
    const bits = BigInt.asUintN(64, BigInt(value as string))
    return [Number(bits >> 32n), Number(bits & 0xffff_ffffn)]
  }
  if (dataType === 'DateTime') return new Date(value as string)
  if (dataType === 'ByteString') return Buffer.from(value as string, 'base64')
  return value
}
