import type { Operations } from '../../../../../clients/typescript/call.ts'
import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import { facts } from '../../../api/session.ts'
import { Badge } from '../../../components/badge.tsx'
import { CopyText } from '../../../components/copy.tsx'
import { NameLink } from '../../../components/name-link.tsx'
import { Loaded } from '../../../components/states.tsx'
import { nowMs, Time } from '../../../components/time.tsx'
import {
  type CommandFacts,
  curlLine,
  mosquittoLine,
  topicOf,
} from '../../../first-stream/commands.ts'
import { exampleReading } from '../../../formats/example-reading.ts'
import { paths } from '../../../routing/paths.ts'
import type { StreamDefinition } from '../stream-definition.ts'

/** Where readings are sent to, how, and who may. */
export function AccessTab({ stream }: { readonly stream: StreamDefinition }) {
  return (
    <div class="stack">
      <Sending stream={stream} />
      <section class="stack" aria-labelledby="access-devices">
        <h2 id="access-devices">Devices that may send</h2>
        <Devices streamId={stream.streamId} />
      </section>
      <section class="card stack" aria-labelledby="access-keys">
        <h2 id="access-keys">Keys that may send</h2>
        <p>
          Beside the devices above, every key of yours with the permission <code>data:write</code>{' '}
          may send to this stream, over MQTT and HTTP. Keys of others may not, and neither do
          devices of other streams.
        </p>
      </section>
    </div>
  )
}

function Sending({ stream }: { readonly stream: StreamDefinition }) {
  const service = facts.value?.service
  const { streamId, endpoint, webhookUrl, source, schema } = stream
  const isFetched = typeof source['endpoint'] === 'string' || typeof source['protocol'] === 'string'
  const topic = source['topic']
  const known: CommandFacts | undefined = service && {
    streamId,
    http: service.http,
    mqtt: service.mqtt,
    mqtts: service.mqtts,
    topic: !isFetched && typeof topic === 'string' && !/[+#]/.test(topic) ? topic : undefined,
    message: {
      first: JSON.stringify(exampleReading(schema, new Date(nowMs.peek()).toISOString())),
      contentType: 'application/json',
    },
  }
  const mosquitto = known && mosquittoLine(known)
  return (
    <section class="card stack" aria-labelledby="access-sending">
      <h2 id="access-sending">Send to it</h2>
      <dl class="facts">
        {known?.mqtt !== undefined && (
          <>
            <dt>Topic</dt>
            <dd class="mono">{topicOf(known)}</dd>
          </>
        )}
        <dt>Address</dt>
        <dd class="mono">{endpoint}</dd>
        {webhookUrl !== undefined && (
          <>
            <dt>Webhook</dt>
            <dd class="mono">{webhookUrl}</dd>
          </>
        )}
        {typeof topic === 'string' && (
          <>
            <dt>Listens to</dt>
            <dd class="mono">{topic}</dd>
          </>
        )}
      </dl>
      {mosquitto !== undefined && <Command title="Over MQTT" line={mosquitto} />}
      {known && <Command title="Over HTTP" line={curlLine(known)} />}
      <p class="soft">
        <code>KEY</code> and <code>SECRET</code> are those of a device below, or of a key: set them
        in the shell first. The page knows no secret.
      </p>
    </section>
  )
}

function Command({ title, line }: { readonly title: string; readonly line: string }) {
  return (
    <div class="stack stream-command">
      <h3>{title}</h3>
      <CopyText text={line} label={`the line to send ${title.toLowerCase()}`} />
    </div>
  )
}

const devicesMax = 100

const tones = { active: 'good', expired: 'warn', revoked: 'bad' } as const

function Devices({ streamId }: { readonly streamId: string }) {
  const devices = useResource(
    (signal) => api.call('listDevices', { query: { streamId, limit: devicesMax }, signal }),
    [streamId],
  )
  return (
    <Loaded
      of={devices}
      lines={3}
      isEmpty={(list) => list.length === 0}
      empty={
        <p class="notice">
          No device has a key of its own for this stream. Such a key is good for nothing else, so
          that who takes it out of a device has that device alone: POST /devices makes one.
        </p>
      }
    >
      {(list) => <DeviceTable devices={list} />}
    </Loaded>
  )
}

type Device = Operations['listDevices']['answer'][number]

function DeviceTable({ devices }: { readonly devices: readonly Device[] }) {
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Devices that may send to this stream</caption>
        <thead>
          <tr>
            <th scope="col">Device</th>
            <th scope="col">State</th>
            <th scope="col">Key</th>
            <th scope="col">Last seen</th>
            <th scope="col">Rate</th>
          </tr>
        </thead>
        <tbody>
          {devices.map((device) => (
            <DeviceRow key={device.id} device={device} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function DeviceRow({ device }: { readonly device: Device }) {
  const { id, name, state, apiKey, lastSeen, rateLimit } = device
  return (
    <tr data-row>
      <td class="title">
        <NameLink href={paths.record('device', id)} name={name} />
      </td>
      <td data-label="State">
        <Badge tone={tones[state]}>{state}</Badge>
      </td>
      <td data-label="Key" class="mono">
        {apiKey}
      </td>
      <td data-label="Last seen">
        <Time at={lastSeen?.at} as="ago" /> {lastSeen?.protocol}
      </td>
      <td data-label="Rate">
        {rateLimit === null ? 'no limit' : `${rateLimit.readingsPerSecond}/s`}
      </td>
    </tr>
  )
}
