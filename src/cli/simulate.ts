import { setTimeout as sleep } from 'node:timers/promises'
import type { MqttClient } from 'mqtt'
import { monotonicMs, wallDate } from '../core/clock.ts'
import { messageOf } from '../core/errors.ts'
import { race } from '../core/race.ts'
import { serviceOptions } from './administration.ts'
import { type Command, CommandError, type Input, UsageError } from './command.ts'
import { Session } from './session.ts'
import { deviceSchema, SimulatedDevice } from './simulated-device.ts'
import { onStopSignals } from './stop-signals.ts'

/** Devices of one simulation: each has a connection. */
const devicesMax = 1_000

/** Readings of one device that may wait for their acknowledgement; beyond it, it skips. */
const inFlightMax = 100

/** How long it is waited at the end for what is not acknowledged yet. */
const acknowledgementMsMax = 10_000

const fleetName = 'simulated fleet'

/** Lets a fleet of devices publish over MQTT. */
export const simulate: Command = {
  name: 'simulate',
  summary: 'Let simulated devices publish readings over MQTT.',
  description:
    'Makes a template, a vault and a data stream for each device. Devices have a day curve, noise, and ' +
    'faults: wrong types, late readings, clocks that are ahead, readings sent twice. Ctrl-C ends it, and prints how many were sent.',
  operands: [],
  options: [
    { name: 'devices', value: 'N', summary: 'Default: 5.' },
    { name: 'rate', value: 'N', summary: 'Readings a second of each device. Default: 1.' },
    { name: 'seconds', value: 'N', summary: 'Default: until it is stopped.' },
    { name: 'faults', value: 'SHARE', summary: 'Share of readings with a fault. Default: 0.02.' },
    {
      name: 'mqtt',
      value: 'URL',
      summary: 'The broker: mqtt, mqtts, ws or wss. Default: that of the service here.',
    },
    ...serviceOptions,
  ],
  async run(input) {
    const wish = wishOf(input)
    const session = Session.open(input)
    if (session.mqttUrl === undefined) {
      throw new UsageError('--mqtt URL is needed for a service elsewhere, or one without MQTT')
    }
    const stopping = new AbortController()
    onStopSignals({ stop: () => stopping.abort() })
    const stop = stopping.signal
    const { vaultId, streamIds } = await createFleet(session, wish.devices, stop)
    announce(input, { vault: fleetName, vaultId, streamIds })
    const clients = await Promise.all(
      streamIds.map(async (streamId) => [streamId, await connect(session, streamId)] as const),
    )
    // Not before: to connect may take longer than a short simulation.
    const end = setTimeout(() => stopping.abort(), Math.min(wish.seconds * 1_000, 2 ** 31 - 1))
    const sent = await Promise.all(
      clients.map(([streamId, client]) => runDevice({ client, streamId, wish, stop })),
    )
    clearTimeout(end)
    const total = sent.reduce((sum, one) => sum + one.sent, 0)
    const acknowledged = sent.reduce((sum, one) => sum + one.acknowledged, 0)
    const text = `${total} readings sent, ${acknowledged} acknowledged, by ${streamIds.length} devices`
    return { json: { vaultId, streamIds, sent: total, acknowledged }, text }
  },
}

interface Wish {
  readonly devices: number
  readonly rate: number
  readonly seconds: number
  readonly faults: number
}

function wishOf({ options }: Input): Wish {
  return {
    devices: numberOf(options, 'devices', { fallback: 5, min: 1, max: devicesMax }),
    rate: numberOf(options, 'rate', { fallback: 1, min: 0.001, max: 1_000 }),
    seconds: numberOf(options, 'seconds', { fallback: 1e9, min: 0.1, max: 1e9 }),
    faults: numberOf(options, 'faults', { fallback: 0.02, min: 0, max: 1 }),
  }
}

/** @throws UsageError */
function numberOf(
  options: Input['options'],
  name: string,
  rule: { readonly fallback: number; readonly min: number; readonly max: number },
): number {
  const given = options[name]
  const value = given === undefined ? rule.fallback : Number(given)
  if (value >= rule.min && value <= rule.max) return value
  throw new UsageError(`--${name} must be a number from ${rule.min} to ${rule.max}`)
}

/** A vault with a stream for each device: fewer of them when the signal ends it. */
async function createFleet(
  session: Session,
  devices: number,
  stop: AbortSignal,
): Promise<{ readonly vaultId: string; readonly streamIds: readonly string[] }> {
  const template = await session.call<{ id: string }>({
    method: 'POST',
    path: '/templates',
    body: {
      name: fleetName,
      hint: 'devices of streamvault simulate',
      required_streams: [],
    },
  })
  const vault = await session.call<{ id: string }>({
    method: 'POST',
    path: '/vaults',
    body: { template_id: template.id, name: fleetName },
  })
  const streamIds: string[] = []
  for (let device = 1; device <= devices && !stop.aborted; device++) {
    const body = {
      name: `device ${device}`,
      vaultId: vault.id,
      type: 'iot_sensor',
      source: { protocol: 'mqtt', deviceId: `device-${device}` },
      schema: deviceSchema,
    }
    const made = await session.call<{ streamId: string }>({
      method: 'POST',
      path: '/streams',
      body,
    })
    streamIds.push(made.streamId)
  }
  return { vaultId: vault.id, streamIds }
}

/** Writes to standard error: standard output has the result. */
function announce({ isJson }: Input, facts: object): void {
  const { streamIds = [] } = facts as { readonly streamIds?: readonly string[] }
  const text = isJson ? JSON.stringify(facts) : `publishing to ${streamIds.join(', ')}`
  process.stderr.write(`${text}\n`)
}

interface DeviceRun {
  readonly client: MqttClient
  readonly streamId: string
  readonly wish: Wish
  readonly stop: AbortSignal
}

interface Sent {
  readonly sent: number
  readonly acknowledged: number
}

async function runDevice({ client, streamId, wish, stop }: DeviceRun): Promise<Sent> {
  const device = new SimulatedDevice(Math.random)
  const open = new Set<Promise<void>>()
  let sent = 0
  let acknowledged = 0
  const publish = (payload: string) => {
    sent++
    const done = client.publishAsync(`streams/${streamId}/data`, payload, { qos: 1 }).then(
      () => void acknowledged++,
      () => undefined,
    )
    open.add(done)
    void done.finally(() => open.delete(done))
  }
  const periodMs = 1_000 / wish.rate
  for (let dueMs = monotonicMs(); !stop.aborted; dueMs += periodMs) {
    if (open.size < inFlightMax) {
      for (const payload of device.payloads(wallDate().getTime(), wish.faults)) publish(payload)
    }
    await sleep(Math.max(0, dueMs + periodMs - monotonicMs()), undefined, {
      signal: stop,
    }).catch(() => undefined)
  }
  await race([Promise.all(open), sleep(acknowledgementMsMax, undefined, { ref: false })])
  await client.endAsync()
  return { sent, acknowledged }
}

async function connect(session: Session, streamId: string): Promise<MqttClient> {
  const { mqttUrl = '', credentials } = session
  const { connectAsync } = await import('mqtt')
  try {
    const isSecure = /^(mqtts|wss):/.test(mqttUrl)
    const trust = isSecure ? session.trust() : {}
    const client = await connectAsync(mqttUrl, {
      ...trust,
      wsOptions: { ...trust } as object,
      username: credentials.apiKey,
      password: credentials.apiSecret,
      clientId: `simulated-${streamId}`,
    })
    client.on('error', () => undefined)
    return client
  } catch (error) {
    const message = `the broker at ${mqttUrl} cannot be reached: ${messageOf(error)}`
    throw new CommandError('broker_unreachable', message, { cause: error })
  }
}
