import type { Static } from 'typebox'
import { deviceNameLengthMax } from '../../core/device-names.ts'
import { formatUs } from '../../core/time.ts'
import { versionHeaders } from '../../requests/http/if-match.ts'
import * as s from '../../requests/http/schema.ts'
import { tagsSchema } from '../data-streams/definition-schemas.ts'
import { type Fleet, type FleetProgress, fleetStreamsDefault, fleetStreamsMax } from './fleet.ts'
import { deviceStatuses, type SeenDevice } from './fleet-device-store.ts'

const definition = s.typed<object>({
  type: 'object',
  description: [
    'A new data stream without name, vault and tags: `type`, `source`, `schema` and `processing`. `{device}` is a level of',
    '`source.topic` and names the device; `source.deviceField` is the name, or the path, of the member of a reading that',
    'does so.',
  ].join(' '),
  examples: [
    {
      type: 'iot_sensor',
      source: { topic: 'tele/{device}/SENSOR' },
      schema: { temperature: { type: 'number', unit: 'C' } },
    },
  ],
})

const name = { ...s.text, minLength: 1, maxLength: 200, examples: ['boilers'] } as const

const streamsMax = s.integer(1, fleetStreamsMax, {
  default: fleetStreamsDefault,
  description: 'Streams that it can have at most.',
})

export const newFleetSchema = s.component('NewFleet', {
  ...s.record(
    { name, vaultId: s.uuid, definition, streamsMax, tags: tagsSchema },
    { optional: ['streamsMax', 'tags'] },
  ),
  examples: [
    {
      name: 'boilers',
      vaultId: '0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60',
      definition: {
        type: 'iot_sensor',
        source: { topic: 'tele/{device}/SENSOR' },
        schema: { temperature: { type: 'number', unit: 'C' } },
      },
      tags: { site: 'berlin' },
    },
  ],
})

export const fleetChangeSchema = s.component('FleetChange', {
  ...s.query({
    name,
    definition,
    streamsMax,
    tags: s.nullable({
      ...tagsSchema,
      additionalProperties: { ...s.text, type: ['string', 'null'] },
    }),
  }),
  description:
    'What is not sent stays. Of tags, and of source, schema and processing of the definition, each member stays, is replaced completely, or is removed with null.',
  examples: [{ definition: { schema: { humidity: { type: 'number' } } }, tags: { site: null } }],
})

const fleetChange = s.record({
  version: s.integer(1, undefined, { description: 'That the streams are to have.' }),
  total: { ...s.count, description: 'Streams of the fleet.' },
  done: { ...s.count, description: 'Streams that have this version.' },
  failed: {
    ...s.count,
    description:
      'Streams that cannot have it, because they have as many versions as a stream can have: devices with the status `outdated`.',
  },
})

export const fleetSchema = s.component(
  'Fleet',
  s.record({
    fleetId: s.uuid,
    name,
    vaultId: s.uuid,
    definition,
    tags: { ...tagsSchema, description: 'Of all of its streams, besides `device`.' },
    streamsMax,
    streams: { ...s.count, description: 'That it has.' },
    version: s.integer(1, undefined, { description: 'Of the definition and the tags.' }),
    createdAt: s.dateTime,
    changedAt: s.dateTime,
    change: {
      ...s.eitherOf(fleetChange, s.nothing),
      description: 'A change that not all streams have yet.',
    },
  }),
)

export const versionedFleet = s.answer(fleetSchema, {
  description: 'The fleet.',
  headers: versionHeaders,
})

/** What happens to the streams of a fleet that is deleted. */
export const endingQuery = s.query({
  streams: s.choice(['keep', 'delete'], {
    default: 'keep',
    description:
      '`keep`: its streams become ordinary ones, without the topic. `delete`: they are deleted with all of their readings.',
  }),
})

export const fleetsQuery = s.query({ ...s.cursorQuery, vaultId: s.uuid })

export const fleetsList = s.cursorListOf(fleetSchema)

/** The name of a device in paths. */
export const deviceName = {
  ...s.text,
  minLength: 1,
  maxLength: deviceNameLengthMax,
  description: 'The name that its messages have.',
  examples: ['boiler-7'],
} as const

export const fleetDeviceSchema = s.component(
  'FleetDevice',
  s.record({
    name: deviceName,
    streamId: { ...s.nullable(s.uuid), description: 'Null of a name that is denied and has none.' },
    createdAt: s.dateTime,
    lastReceivedAt: s.nullable(s.dateTime),
    denied: { ...s.boolean, description: 'Whether its messages are refused.' },
    version: s.integer(1, undefined, {
      description: 'The version of the fleet that its stream has.',
    }),
  }),
)

export const fleetDevicesQuery = s.query({
  ...s.cursorQuery,
  status: s.choice(deviceStatuses, {
    description:
      '`active`: not denied. `denied`. `outdated`: its stream does not have the present version of the fleet.',
  }),
  silentFor: {
    ...s.text,
    description:
      'Devices that have sent nothing for so long: a duration, such as 30s, 15m, 6h or 1d.',
    examples: ['15m'],
  },
})

export const fleetDevicesSchema = s.record({
  devices: s.listOf(fleetDeviceSchema),
  nextCursor: {
    ...s.nullable(s.text),
    description:
      'Null on the last page. With a filter a page may have fewer devices than `limit`, or none.',
  },
})

export const newDeviceNameSchema = s.record({ name: deviceName })

export function fleetDeviceBody(device: SeenDevice): Static<typeof fleetDeviceSchema> {
  const { lastReceivedAtUs } = device
  return {
    name: device.name,
    streamId: device.streamId ?? null,
    createdAt: formatUs(device.createdAtUs),
    lastReceivedAt: lastReceivedAtUs === undefined ? null : formatUs(lastReceivedAtUs),
    denied: device.deniedAtUs !== undefined,
    version: device.version,
  }
}

/** The fleet as its owner sees it. */
export function fleetBody(
  fleet: Fleet,
  { streams, behind, failed }: FleetProgress,
): Static<typeof fleetSchema> {
  const { deviceField, type, source, schema, processing } = fleet.definition
  const tags = Object.entries(fleet.tags).filter((tag): tag is [string, string] => tag[1] !== null)
  return {
    fleetId: fleet.id,
    name: fleet.name,
    vaultId: fleet.vaultId,
    definition: {
      type,
      source: deviceField === undefined ? source : { ...source, deviceField },
      schema,
      processing,
    },
    tags: Object.fromEntries(tags),
    streamsMax: fleet.streamsMax,
    streams,
    version: fleet.version,
    createdAt: formatUs(fleet.createdAtUs),
    changedAt: formatUs(fleet.changedAtUs),
    change:
      behind === 0
        ? null
        : { version: fleet.version, total: streams, done: streams - behind, failed },
  }
}
