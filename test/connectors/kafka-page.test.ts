import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { kafka } from '../../connectors/kafka/kafka.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { isKafkaMissing, Kafka } from '../support/kafka.ts'
import { RecordedRun } from '../support/recorded-run.ts'

/** The example of docs/kafka.md: a definition, a message with a header, and what it becomes. */
const page = readFileSync(new URL('../../docs/kafka.md', import.meta.url), 'utf8')

function blockOf(language: string): string {
  const [, text = ''] = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page) ?? []
  return text.trim()
}

test.skipIf(isKafkaMissing)(
  'the source that the page shows reads the message that it shows',
  async () => {
    await using server = await Kafka.start()
    const { source } = JSON.parse(blockOf('json')) as { readonly source: Record<string, string> }
    const { endpoint, topic = '' } = source
    expect(endpoint).toMatch(/^kafka:/)
    await server.createTopic(topic, 1)
    const [, name = '', type = ''] = /the header `(\w+): ([\w.]+)`/.exec(page) ?? []
    const value = Buffer.from(blockOf('json payload'))
    await server.produce(topic, [{ value, headers: { [name]: type } }])
    const own = { ...source, endpoint: server.endpoint, tls: undefined, credentials: undefined }
    const opened = kafka.open({ streamId: newId<StreamId>(), source: own })
    await using run = new RecordedRun(opened, server.port)
    await expect.poll(() => run.messages.length).toBe(1)
    expect(run.messages[0]).toMatchObject({ payload: value, eventType: 'part.made' })
  },
)
