import { Readable } from 'node:stream'
import { serviceOptions } from './administration.ts'
import { type Command, CommandError, type Input, type Outcome } from './command.ts'
import type { Device, DeviceWithSecret } from './devices.ts'
import { type Definition, infer, remarksOf } from './infer.ts'
import {
  contentTypeOf,
  type PublishCommands,
  type Publisher,
  publishCommands,
  shellWord,
} from './publish-commands.ts'
import { payloadOf, readSample, type Sample, sampleOptions } from './sample.ts'
import { Session } from './session.ts'
import { shownText } from './shown-text.ts'
import { table } from './table.ts'
import { type ListedVault, makeVault } from './vaults.ts'

const nameDefault = 'first device'

/** Longest time that it takes the service to judge a sample. */
const judgeMsMax = 60_000

/** Makes all that a device needs to send readings. */
export const init: Command = {
  name: 'init',
  summary: 'Make a vault, a data stream and a device from a message that the device sends.',
  description:
    'The definition of the data stream is proposed by the service, so that it accepts the message. The command ' +
    'prints what it has made, and the commands that publish the message. It can be run again: what exists ' +
    'under the name stays as it is.',
  operands: [],
  options: [
    ...sampleOptions,
    {
      name: 'name',
      value: 'TEXT',
      summary: `Of the vault, the data stream and the device. Default: ${nameDefault}.`,
    },
    { name: 'vault', value: 'VAULT', summary: 'The id of a vault to use in place of a new one.' },
    {
      name: 'rotate',
      summary: 'Give a device that exists a new secret, and print it.',
    },
    { name: 'mqtt', value: 'URL', summary: 'The broker. Default: that of the service here.' },
    ...serviceOptions,
  ],
  exitCodes: 'The exit code is 1 when the data stream does not accept the sample.',
  async run(input) {
    const sample = readSample(input)
    return outcomeOf(await prepare(Session.open(input), input, sample))
  },
}

/** Something that exists now. */
interface Kept<Thing> {
  readonly thing: Thing
  /** Whether this call has made it. */
  readonly isNew: boolean
}

interface Stream extends Definition {
  readonly streamId: string
  readonly name: string
  readonly vaultId: string
}

interface Prepared {
  readonly vaultId: string
  readonly isVaultNew: boolean
  readonly stream: Kept<Stream>
  readonly device: Kept<Device & Partial<DeviceWithSecret>>
  readonly remarks: readonly string[]
  readonly verdict: Verdict | undefined
  readonly publish: PublishCommands
}

async function prepare(session: Session, input: Input, sample: Sample): Promise<Prepared> {
  const { name = nameDefault, vault } = input.options
  const known = await findStream(session, name, vault)
  // Before anything is made: it may be refused.
  const inferred = known ? undefined : await infer(session, sample)
  const { vaultId, isVaultNew } = known
    ? { vaultId: known.vaultId, isVaultNew: false }
    : await keepVault(session, name, vault)
  const stream = known
    ? { thing: known, isNew: false }
    : await makeStream(session, { name, vaultId, ...inferred?.proposal })
  const { streamId } = stream.thing
  const device = await keepDevice(session, {
    name,
    streamId,
    isRotated: input.options['rotate'] !== undefined,
  })
  const publisher: Publisher = {
    streamId,
    deviceId: device.thing.id,
    secret: device.thing.apiSecret,
    definition: stream.thing,
    sample,
  }
  return {
    vaultId,
    isVaultNew,
    stream,
    device,
    remarks: inferred ? remarksOf(inferred) : [],
    verdict: await judge(session, publisher),
    publish: publishCommands(session, publisher),
  }
}

/** The user's stream of that name, in that vault where one is named. */
async function findStream(
  session: Session,
  name: string,
  vaultId: string | undefined,
): Promise<Stream | undefined> {
  const query = { contains: name, vaultId }
  const { items } = await session.list<Stream>({ path: '/streams', query })
  const found = items.find((one) => one.name === name)
  if (found === undefined) return undefined
  return await session.call<Stream>({ method: 'GET', path: `/streams/${found.streamId}` })
}

async function keepVault(
  session: Session,
  name: string,
  wanted: string | undefined,
): Promise<{ readonly vaultId: string; readonly isVaultNew: boolean }> {
  if (wanted !== undefined) return { vaultId: wanted, isVaultNew: false }
  const query = { contains: name }
  const { items } = await session.list<ListedVault>({ path: '/vaults', query })
  for (const one of items.filter((listed) => listed.name === name)) {
    if (await isOwn(session, one)) return { vaultId: one.vaultId, isVaultNew: false }
  }
  const { id } = await makeVault(session, { name, public: false })
  return { vaultId: id, isVaultNew: true }
}

/** The list has vaults of other users, too; only an owner sees who may do something with one. */
async function isOwn(session: Session, { vaultId }: ListedVault): Promise<boolean> {
  try {
    await session.call({ method: 'GET', path: `/vaults/${vaultId}/permissions` })
    return true
  } catch (error) {
    if (error instanceof CommandError && /^http_4|^not_found$|^insuff/.test(error.code))
      return false
    throw error
  }
}

async function makeStream(session: Session, body: object): Promise<Kept<Stream>> {
  const { streamId } = await session.call<Stream>({ method: 'POST', path: '/streams', body })
  const made = await session.call<Stream>({ method: 'GET', path: `/streams/${streamId}` })
  return { thing: made, isNew: true }
}

async function keepDevice(
  session: Session,
  {
    name,
    streamId,
    isRotated,
  }: { readonly name: string; readonly streamId: string; readonly isRotated: boolean },
): Promise<Prepared['device']> {
  const query = { streamId, state: 'active' }
  const { items } = await session.list<Device>({ path: '/devices', query })
  const found = items.find((one) => one.name === name)
  if (found === undefined) {
    const body = { name, streamIds: [streamId] }
    const request = { method: 'POST', path: '/devices', body } as const
    return { thing: await session.call<DeviceWithSecret>(request), isNew: true }
  }
  if (!isRotated) return { thing: found, isNew: false }
  const rotate = { method: 'POST', path: `/devices/${found.id}/rotate`, body: {} } as const
  return { thing: await session.call<DeviceWithSecret>(rotate), isNew: false }
}

interface Verdict {
  readonly accepted: number
  readonly rejected: number
  readonly readings: readonly {
    readonly status: string
    readonly message?: string
    readonly remedy?: string
  }[]
}

/** What would become of the sample; undefined where it cannot be sent over HTTP. */
async function judge(
  session: Session,
  { streamId, definition, sample }: Publisher,
): Promise<Verdict | undefined> {
  const type = contentTypeOf(definition)
  if (type === undefined) return undefined
  const request = {
    path: `/streams/${streamId}/validate`,
    headers: { 'content-type': type },
    content: Readable.from([payloadOf(sample)]),
  }
  try {
    return await session.upload<Verdict>(request, AbortSignal.timeout(judgeMsMax))
  } catch (error) {
    // A body that is not of the format of the stream: another device has sent it.
    if (!(error instanceof CommandError) || error.code !== 'malformed_body') throw error
    const { message, remedy } = error
    const refused = { status: 'rejected', message, ...(remedy !== undefined && { remedy }) }
    return { accepted: 0, rejected: 1, readings: [refused] }
  }
}

function outcomeOf(found: Prepared): Outcome {
  const { vaultId, isVaultNew, stream, device, remarks, verdict, publish } = found
  const isRefused = verdict !== undefined && verdict.rejected > 0
  return {
    json: {
      vaultId,
      streamId: stream.thing.streamId,
      deviceId: device.thing.id,
      deviceSecret: device.thing.apiSecret ?? null,
      made: { vault: isVaultNew, stream: stream.isNew, device: device.isNew },
      fields: Object.keys(stream.thing.schema),
      remarks,
      sample: verdict === undefined ? null : verdict,
      publish,
    },
    text: textOf(found),
    isFailure: isRefused,
  }
}

function state(isNew: boolean): string {
  return isNew ? 'made' : 'exists already'
}

function textOf(found: Prepared): string {
  const { vaultId, isVaultNew, stream, device, publish } = found
  const { streamId, schema } = stream.thing
  const secret = device.thing.apiSecret
  const rows = [
    ['vault', vaultId, state(isVaultNew)],
    ['stream', streamId, state(stream.isNew)],
    ['device', device.thing.id, state(device.isNew)],
  ]
  const fields = Object.entries(schema).map(([field, { type }]) => `${field} (${type})`)
  return [
    table(['KIND', 'ID', 'STATE'], rows),
    '',
    ...(secret === undefined ? [] : [`Secret of the device, which is not shown again: ${secret}`]),
    `Fields: ${fields.join(', ')}`,
    ...found.remarks,
    ...verdictLines(found),
    '',
    ...(isOfAnother(found) ? otherDeviceLines(stream.thing) : publishLines(publish)),
    ...(secret === undefined && !isOfAnother(found) ? secretLines(device.thing.id) : []),
    'What to do next:',
    '',
    `  npx streamvault tail ${shellWord(streamId)} --last 10`,
    `  npx streamvault streams status ${shellWord(streamId)}`,
    `  npx streamvault rules create --name hot --vault ${shellWord(vaultId)} --field ${shellWord(numberIn(stream.thing))} --above N`,
  ].join('\n')
}

/** A field that a rule can compare with a number; a time is none. */
function numberIn({ schema, source }: Definition): string {
  const found = Object.entries(schema).find(
    ([field, { type }]) => /^(number|integer)$/.test(type) && field !== source?.timestampField,
  )
  return found?.[0] ?? 'FIELD'
}

function verdictLines({ verdict }: Prepared): string[] {
  if (verdict === undefined) return []
  const { accepted, rejected, readings } = verdict
  const refused = readings.find(({ status }) => status === 'rejected')
  return [
    `The sample: ${accepted} accepted, ${rejected} rejected.`,
    ...(refused === undefined ? [] : [`Rejected: ${refused.message}`]),
    ...(refused?.remedy === undefined ? [] : [`What to do: ${refused.remedy}`]),
  ]
}

/** Whether the stream was there before, and accepts nothing of the sample. */
function isOfAnother({ stream, verdict }: Prepared): boolean {
  return !stream.isNew && verdict?.accepted === 0
}

function otherDeviceLines({ name }: Stream): string[] {
  return [
    `The data stream "${shownText(name)}" exists already, with the fields above. For another device give another name:`,
    '',
    "  npx streamvault init --name 'NAME' --sample 'SAMPLE'",
    '',
  ]
}

function publishLines({ mqtt, http }: PublishCommands): string[] {
  return [
    ...(mqtt === null ? [] : ['Publish the sample over MQTT:', '', `  ${mqtt}`, '']),
    ...(http === null ? [] : ['Publish it over HTTP:', '', `  ${http}`, '']),
  ]
}

function secretLines(deviceId: string): string[] {
  return [
    'SECRET stands for the secret of the device, which was shown when the device was made. For a new one:',
    '',
    `  npx streamvault devices rotate ${shellWord(deviceId)}`,
    '',
  ]
}
