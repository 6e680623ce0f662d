import { randomInt } from 'node:crypto'
import type {
  CreateMonitoredItemsResponse,
  CreateSubscriptionResponse,
  ReadResponse,
  TransferSubscriptionsResponse,
} from 'node-opcua-client'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { BadAnswer, type OpcUaConnection } from './connection.ts'
import type { MonitoredItem, OpcUaOptions } from './options.ts'
import type { SavedReading } from './partial-readings.ts'

/** How long a server goes on collecting for us when we are away: it may grant less. */
const lifetimeMs = 10 * 60 * 1_000

/** How often a server says that it lives, when nothing changes. */
const keepAliveMs = 10_000

/** Values in one notification: more come in the next one. */
const notificationsMax = 1_000

/** What a server and the way to it may add to the times that are promised. */
const lateMs = 250

/** A reading waits no longer for values that are looked at more rarely. */
const apartMsMax = 10_000

/** Items that a server is told of at once: many take no more. */
const itemsAtOnce = 500

/** Nodes that a message about refused ones names. */
const namedMax = 5

/** Nodes of each server: OPC 10000-5, section 6.3.1 and 12.10; ids of OPC 10000-6, annex A. */
const serverNodes = { namespaces: 'i=2255', startTime: 'i=2257' } as const

/** A subscription at a server, and how far its notifications are durable. */
export interface SubscriptionPosition {
  readonly subscription: number
  /** Handle that we have given to its first item. */
  readonly firstHandle: number
  /** When the server was started: the numbers of its subscriptions are given anew then. */
  readonly startedAt: string
  /** The last notification that was taken; 0 where none was. */
  readonly sequence: number
  /** Milliseconds that the server has granted; undefined in what an earlier version has written. */
  readonly granted?: GrantedTimes
  /** Readings that wait for other values of their time. */
  readonly open?: readonly SavedReading[]
}

/** Milliseconds. */
interface GrantedTimes {
  readonly publishing: number
  /** Interval of the item that is looked at most rarely. */
  readonly sampling: number
}

export interface Subscription {
  readonly id: number
  readonly position: SubscriptionPosition
  /** Milliseconds in which something has to be heard of it. */
  readonly silenceMs: number
  /** Milliseconds between two notifications. */
  readonly publishingMs: number
  /** Milliseconds that values of one time arrive apart at most. */
  readonly apartMs: number
  /** Notifications that the server still has for us, where it says so. */
  readonly available: readonly number[]
  /** Whether it was there before: then there may be notifications that were sent and did not get here. */
  readonly isResumed: boolean
  /** Whether another session had it before. */
  readonly isTransferred: boolean
}

export function readPosition(
  position: SourcePosition | undefined,
): SubscriptionPosition | undefined {
  const known = position as unknown as SubscriptionPosition | undefined
  return typeof known?.subscription === 'number' ? known : undefined
}

/** Readings that wait for more, whether or not the subscription goes on that they are of. */
export function readOpen(position: SourcePosition | undefined): readonly SavedReading[] {
  const open: unknown = position?.['open']
  return Array.isArray(open) ? (open as readonly SavedReading[]) : []
}

export function writePosition({ open = [], ...position }: SubscriptionPosition): SourcePosition {
  return open.length === 0 ? position : { ...position, open }
}

/** The position of who has no subscription any more. */
export function withoutSubscription(open: readonly SavedReading[]): SourcePosition {
  return open.length === 0 ? {} : { open }
}

function timesOf(options: OpcUaOptions, granted: GrantedTimes | undefined) {
  const publishingMs = granted?.publishing ?? options.publishingInterval
  const asked = options.items.map(({ samplingInterval }) => samplingInterval)
  const samplingMs = granted?.sampling ?? asked.reduce((one, other) => Math.max(one, other), 0)
  return { publishingMs, apartMs: Math.min(apartMsMax, publishingMs + samplingMs + lateMs) }
}

/** The time that something is heard in, whatever the server has granted. */
function silenceOf({ publishingInterval }: OpcUaOptions): number {
  return 3 * Math.max(keepAliveMs, publishingInterval) + 10_000
}

/**
 * Goes on with a subscription that the server still has.
 *
 * @returns undefined where it has none of ours, or does not give it to us any more
 */
export async function resumeSubscription(
  connection: OpcUaConnection,
  options: OpcUaOptions,
  position: SubscriptionPosition,
): Promise<Subscription | undefined> {
  if ((await readServer(connection)).startedAt !== position.startedAt) return undefined
  const resumed = {
    id: position.subscription,
    position,
    silenceMs: silenceOf(options),
    ...timesOf(options, position.granted),
    isResumed: true,
  }
  if (connection.isReactivated) return { ...resumed, available: [], isTransferred: false }
  const request = new connection.library.TransferSubscriptionsRequest({
    subscriptionIds: [position.subscription],
    sendInitialValues: false,
  })
  const answer = await connection
    .ask<TransferSubscriptionsResponse>(request)
    .catch((error: unknown) => {
      if (error instanceof BadAnswer) return undefined
      throw error
    })
  const result = answer?.results?.[0]
  if (result === undefined || result.statusCode.value >>> 30 !== 0) return undefined
  const available = [...(result.availableSequenceNumbers ?? [])]
  return { ...resumed, available, isTransferred: true }
}

/** @throws SourceRefused for nodes that the server does not let us follow */
export async function createSubscription(
  connection: OpcUaConnection,
  options: OpcUaOptions,
): Promise<Subscription> {
  const { publishingInterval } = options
  const keepAliveCount = Math.max(1, Math.ceil(keepAliveMs / publishingInterval))
  const lifetimeCount = Math.max(3 * keepAliveCount, Math.ceil(lifetimeMs / publishingInterval))
  const server = await readServer(connection)
  const request = new connection.library.CreateSubscriptionRequest({
    requestedPublishingInterval: publishingInterval,
    requestedMaxKeepAliveCount: keepAliveCount,
    requestedLifetimeCount: options.isTrial ? 3 * keepAliveCount : lifetimeCount,
    maxNotificationsPerPublish: notificationsMax,
    publishingEnabled: true,
    priority: 0,
  })
  const answer = await connection.ask<CreateSubscriptionResponse>(request)
  const { subscriptionId: id } = answer
  // Handles that begin at random tell its items from those of another subscription.
  const firstHandle = randomInt(1, 2 ** 31)
  const { startedAt, namespaces } = server
  const sampling = await createItems(connection, options, { id, firstHandle, namespaces })
  const publishing = answer.revisedPublishingInterval
  const granted = { publishing, sampling }
  return {
    id,
    position: { subscription: id, firstHandle, startedAt, sequence: 0, granted },
    silenceMs: Math.max(silenceOf(options), 3 * publishing * answer.revisedMaxKeepAliveCount),
    ...timesOf(options, granted),
    available: [],
    isResumed: false,
    isTransferred: false,
  }
}

/** Has the server forget it. */
export async function deleteSubscription(connection: OpcUaConnection, id: number): Promise<void> {
  const { DeleteSubscriptionsRequest } = connection.library
  await connection.ask(new DeleteSubscriptionsRequest({ subscriptionIds: [id] }))
}

async function readServer(connection: OpcUaConnection) {
  const { ReadRequest, AttributeIds } = connection.library
  const nodesToRead = [serverNodes.startTime, serverNodes.namespaces].map((nodeId) => ({
    nodeId,
    attributeId: AttributeIds.Value,
  }))
  const { results } = await connection.ask<ReadResponse>(new ReadRequest({ nodesToRead }))
  const [startTime, namespaces] = (results ?? []).map(({ value }) => value.value as unknown)
  return {
    startedAt: startTime instanceof Date ? startTime.toISOString() : '',
    namespaces: Array.isArray(namespaces) ? (namespaces as readonly string[]) : [],
  }
}

interface Place {
  readonly id: number
  readonly firstHandle: number
  readonly namespaces: readonly string[]
}

/** @returns the longest time, in milliseconds, that the server takes to look at one of them again */
async function createItems(
  connection: OpcUaConnection,
  options: OpcUaOptions,
  { id, firstHandle, namespaces }: Place,
): Promise<number> {
  const { items } = options
  let samplingMs = 0
  const refused: string[] = []
  for (let start = 0; start < items.length; start += itemsAtOnce) {
    const some = items.slice(start, start + itemsAtOnce)
    const request = new connection.library.CreateMonitoredItemsRequest({
      subscriptionId: id,
      timestampsToReturn: connection.library.TimestampsToReturn.Both,
      itemsToCreate: some.map((item, index) => ({
        itemToMonitor: {
          nodeId: resolved(item.nodeId, namespaces),
          attributeId: connection.library.AttributeIds.Value,
        },
        monitoringMode: connection.library.MonitoringMode.Reporting,
        requestedParameters: {
          clientHandle: firstHandle + start + index,
          samplingInterval: item.samplingInterval,
          queueSize: item.queueSize,
          discardOldest: options.discardOldest,
          filter: filterOf(connection, item),
        },
      })),
    })
    const { results } = await connection.ask<CreateMonitoredItemsResponse>(request)
    if (results?.length !== some.length) throw new Error('the server does not answer for each node')
    for (const [index, result] of results.entries()) {
      samplingMs = Math.max(samplingMs, result.revisedSamplingInterval)
      if (result.statusCode.value >>> 30 === 0) continue
      refused.push(`${some[index]?.nodeId} (${result.statusCode.name})`)
    }
  }
  if (refused.length === 0) return samplingMs
  const named = refused.slice(0, namedMax).join(', ')
  const more = refused.length > namedMax ? ', ...' : ''
  throw new SourceRefused(
    `the server does not let us follow ${refused.length} of ${items.length} nodes: ${named}${more}`,
  )
}

/** A change by less than the deadband is none: OPC 10000-4, section 7.22.2. */
function filterOf({ library }: OpcUaConnection, { deadband }: MonitoredItem) {
  if (deadband === undefined) return null
  return new library.DataChangeFilter({
    trigger: library.DataChangeTrigger.StatusValue,
    deadbandType: library.DeadbandType.Absolute,
    deadbandValue: deadband,
  })
}

/** The index of a namespace may be another one after a restart of the server: its URI is not. */
function resolved(nodeId: string, namespaces: readonly string[]): string {
  const [, uri, identifier] = /^nsu=([^;]+);(.*)$/s.exec(nodeId) ?? []
  if (uri === undefined) return nodeId
  const index = namespaces.indexOf(uri)
  if (index < 0) throw new SourceRefused(`the server has no namespace ${uri}`)
  return `ns=${index};${identifier}`
}
