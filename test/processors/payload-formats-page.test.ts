import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { decoderOf } from '../../processors/decode.ts'
import { judgeOf } from '../../processors/index.ts'
import { mapperOf } from '../../processors/mapping/mapper.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import { formatUs } from '../../src/core/time.ts'
import { judgeMessage } from '../../src/ingest/pipeline/intake.ts'
import { formatOf, parseDefinition, schemaOf } from '../../src/streams/data-streams/definition.ts'
import { formatOptionsOf } from '../../src/streams/data-streams/payload-format.ts'

/** The examples of docs/payload-formats.md: a definition, a payload, and its readings. */

const page = readFileSync(new URL('../../docs/payload-formats.md', import.meta.url), 'utf8')

const receivedAtUs = Date.UTC(2026, 0, 31, 10) * 1000

interface Block {
  readonly language: string
  readonly content: string
}

const blocks: readonly Block[] = [...page.matchAll(/```(\w+ \w+)\n(.*?)\n```/gs)].map(
  ([, language = '', content = '']) => ({ language, content }),
)

const examples = blocks.flatMap(({ language, content }, index) => {
  if (language !== 'json definition') return []
  const [payload, readings] = blocks.slice(index + 1)
  if (payload === undefined || readings?.language !== 'json readings') {
    throw new Error(`an example is not complete: ${content}`)
  }
  return [{ definition: content, payload, readings: readings.content }]
})

/** A stream as such a definition makes it. */
function streamOf(text: string): CompiledStream {
  const definition = parseDefinition({
    name: 'example',
    vaultId: '01234567-89ab-4def-8123-456789abcdef',
    type: 'iot_sensor',
    ...(JSON.parse(text) as object),
  })
  const schema = schemaOf(definition)
  const format = formatOf(definition)
  const described = { schema, formatOptions: formatOptionsOf(definition.source) }
  const decode = decoderOf(format, described)
  const compiled = { decode, judge: judgeOf(schema), map: mapperOf(schema), scan: undefined }
  return { streamId: '', ownerId: '', version: 1, format, ...described, ...compiled } as never
}

function bytesOf({ language, content }: Block): Uint8Array {
  if (language === 'hex payload') return Buffer.from(content.replaceAll(/#.*|\s/g, ''), 'hex')
  return Buffer.from(content)
}

test('the page has examples', () => {
  expect(examples.length).toBeGreaterThan(3)
})

test.each(examples)('$payload.content', ({ definition, payload, readings }) => {
  const stream = streamOf(definition)

  const decoded = stream.decode(bytesOf(payload))

  if (!decoded.ok) throw new Error(decoded.problem)
  const found = stream.map?.(decoded, {}) ?? decoded
  const stored = judgeMessage(stream, found, receivedAtUs).map((verdict) => {
    if (!verdict.accepted || verdict.isFiltered) return verdict
    const { timestampUs, values, extra } = verdict
    return {
      timestamp: formatUs(timestampUs),
      ...(JSON.parse(values) as object),
      ...(extra !== '' && { extra: JSON.parse(extra) as object }),
    }
  })
  expect(stored).toEqual(JSON.parse(readings))
})
