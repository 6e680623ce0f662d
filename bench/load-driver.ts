import { connect, type Socket } from 'node:net'
import { connect as connectSecurely } from 'node:tls'
import type { LoadTiming, Measurement, PayloadOptions } from './load-measurement.ts'

/** A run ends within warm-up + seconds + 5 s: these two bounds leave a little for the timers. */
const CONNECT_TIMEOUT_MS = 3500
const EXTRA_TIME_MS = 4800
const READ_BUFFER_BYTES = 16 * 1024

/** One connection of a load generator. Times are `performance.now()` milliseconds. */
export type LoadConnection = {
  /** Resolves when the connection may send; rejects with the reason when it may not. */
  connect(): Promise<void>
  isOpen(): boolean
  /** Nothing outstanding and nothing still to be sent. */
  isIdle(nowMs: number): boolean
  /** Sends whatever may be sent now, in one write. */
  pump(nowMs: number): void
  /** Counts what was never answered. */
  countUnanswered(nowMs: number): void
  close(): void
}

type LoadRun = {
  timing: LoadTiming
  payload: PayloadOptions | undefined
  /** How often every connection is pumped; what drives an open loop. */
  tickMs: number
}

/**
 * Connects, warms up, measures and waits for the last answers; returns when the run ended.
 * Rejects only when a connection could not be made; later losses are errors in the result.
 */
export async function driveLoad(
  connections: readonly LoadConnection[],
  measurement: Measurement,
  run: LoadRun,
): Promise<number> {
  const { warmupSeconds, seconds } = run.timing
  const deadlineMs = performance.now() + (warmupSeconds + seconds) * 1000 + EXTRA_TIME_MS
  try {
    await withinConnectTimeout(Promise.all(connections.map((each) => each.connect())))
    measurement.begin(run.timing, run.payload)
    await pumpUntilDone(connections, { measurement, deadlineMs, tickMs: run.tickMs })
    const endedMs = performance.now()
    for (const each of connections) each.countUnanswered(endedMs)
    return endedMs
  } finally {
    for (const each of connections) each.close()
  }
}

function pumpUntilDone(
  connections: readonly LoadConnection[],
  limits: { measurement: Measurement; deadlineMs: number; tickMs: number },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  function tick(): void {
    const nowMs = performance.now()
    for (const each of connections) each.pump(nowMs)
    const isDrained = nowMs >= limits.measurement.endMs && connections.every((c) => c.isIdle(nowMs))
    const isLost = connections.every((each) => !each.isOpen())
    if (!isDrained && !isLost && nowMs < limits.deadlineMs) return
    clearInterval(timer)
    resolve()
  }
  const timer = setInterval(tick, limits.tickMs)
  tick()
  return promise
}

async function withinConnectTimeout(connected: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`not every connection was accepted within ${CONNECT_TIMEOUT_MS} ms`))
  }, CONNECT_TIMEOUT_MS)
  try {
    await Promise.race([connected, late])
  } finally {
    clearTimeout(timer)
  }
}

type SocketListener = {
  onOpen(): void
  /** `bytes` is reused for the next read: copy what must be kept. */
  onBytes(bytes: Buffer): void
  onClose(reason: string): void
}

/** Where a server listens. */
export type Address = {
  host: string
  port: number
  /** Where the connection comes from, on a machine with several addresses. */
  localAddress?: string
  /** The certificate (PEM) that a server with TLS has; without one there is no TLS. */
  ca?: string | undefined
}

/** Opens a TCP socket that reads into one reused buffer, past the cost of a readable stream. */
export function openSocket({ ca, ...address }: Address, listener: SocketListener): Socket {
  const buffer = Buffer.allocUnsafe(READ_BUFFER_BYTES)
  const onread = {
    buffer,
    callback: (length: number) => {
      listener.onBytes(buffer.subarray(0, length))
      return true
    },
  }
  const options = { ...address, noDelay: true, onread }
  const socket = ca === undefined ? connect(options) : connectSecurely({ ...options, ca })
  let reason = 'connection closed by the server'
  socket.on(ca === undefined ? 'connect' : 'secureConnect', () => listener.onOpen())
  socket.on('error', (error: NodeJS.ErrnoException) => {
    // Node's error for a name with several addresses has a code but an empty message.
    reason = `connection failed: ${error.message || (error.code ?? error.name)}`
  })
  socket.on('close', () => listener.onClose(reason))
  return socket
}
