import { globSync, readFileSync } from 'node:fs'
import { rootCertificates } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { isObject } from '../../src/contracts/definitions/field-map.ts'
import { secretMark } from '../../src/contracts/definitions/secret-mark.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { streamTypes } from '../../src/streams/data-streams/stream-type.ts'

/** What a definition needs besides what an example is about. */
const rest = {
  name: 'boiler',
  vaultId: '01980000-0000-7000-8000-000000000001',
}

const schema = { value: { type: 'number' } }

/** Definitions of streams in blocks of JSON of one page. */
function definitionsIn(page: string): readonly Readonly<Record<string, unknown>>[] {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```json\n(.*?)^```/gms)
  return [...blocks].flatMap(([, text = '']) => {
    const value: unknown = jsonOrNothing(text)
    if (!isObject(value) || !isObject(value['source'])) return []
    return streamTypes.some((type) => type === value['type']) ? [value] : []
  })
}

/** Some blocks are more than one line of JSON, or leave something out. */
function jsonOrNothing(text: string): unknown {
  try {
    return JSON.parse(text, withRealPem)
  } catch {
    return undefined
  }
}

/** Pages show the beginning of a certificate or of a key: secrets are as those that are kept, the rest is a real one. */
function withRealPem(key: string, value: unknown): unknown {
  if (typeof value !== 'string' || !value.startsWith('-----BEGIN')) return value
  return key === 'ca' || key === 'serverCertificate' ? rootCertificates[0] : secretMark
}

const examples = globSync('docs/*.md').flatMap((page) =>
  definitionsIn(page).map((definition, index) => ({ page, index, definition })),
)

describe('a definition that the docs show', () => {
  test('is found', () => {
    expect(examples.length).toBeGreaterThan(3)
  })

  test.each(examples)('can be made: $page, number $index', ({ definition }) => {
    const isOfEvents = isObject(definition['source']) && 'eventTypes' in definition['source']
    const whole = { ...rest, ...(!isOfEvents && { schema }), ...definition }
    expect(() => parseDefinition(whole)).not.toThrow()
  })
})
