import type { Sample } from './sample.ts'

export interface CommandFacts {
  readonly streamId: string
  readonly http: string
  readonly mqtt: string | null
  readonly mqtts: string | null
  /** The topic that the stream listens to, where it is not its own. */
  readonly topic: string | undefined
  readonly message: Pick<Sample, 'first' | 'contentType'>
}

/** Where a device publishes its readings to. */
export function topicOf({ streamId, topic }: Pick<CommandFacts, 'streamId' | 'topic'>): string {
  return topic ?? `streams/${streamId}/data`
}

/** Publishes the message over MQTT; undefined: the service has no MQTT. */
export function mosquittoLine(facts: CommandFacts): string | undefined {
  const address = facts.mqtt ?? facts.mqtts
  if (address === null || !URL.canParse(address)) return undefined
  const { hostname, port } = new URL(address)
  const isTls = facts.mqtt === null
  const parts = [
    `mosquitto_pub -h ${quoted(hostname)} -p ${port === '' ? (isTls ? '8883' : '1883') : port}`,
    ...(isTls ? ['--capath /etc/ssl/certs'] : []),
    '-u "$KEY" -P "$SECRET" -q 1',
    `-t ${quoted(topicOf(facts))} -m ${quoted(facts.message.first)}`,
  ]
  return parts.join(' \\\n  ')
}

/** Sends it over HTTP. */
export function curlLine({ streamId, http, message }: CommandFacts): string {
  return [
    `curl ${quoted(`${http.replace(/\/+$/, '')}/streams/${streamId}/data`)}`,
    '-H "x-api-key: $KEY" -H "x-api-secret: $SECRET"',
    `-H ${quoted(`content-type: ${message.contentType}`)} --data-binary ${quoted(message.first)}`,
  ].join(' \\\n  ')
}

/** A word that a shell of Unix takes as it is. */
export function quoted(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}
