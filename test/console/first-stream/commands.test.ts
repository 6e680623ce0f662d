import { execFileSync } from 'node:child_process'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  curlLine,
  mosquittoLine,
  quoted,
  topicOf,
} from '../../../console/src/first-stream/commands.ts'

const facts = {
  streamId: 's-1',
  http: 'http://127.0.0.1:8080/',
  mqtt: 'mqtt://127.0.0.1:1883',
  mqtts: null,
  topic: undefined,
  message: { first: '{"a": "it\'s"}', contentType: 'application/json' },
} as const

describe('lines to copy', () => {
  test('give a shell the words as they are', () => {
    const text = fc.string({ unit: 'binary' }).filter((word) => !word.includes('\0') && word !== '')
    fc.assert(
      fc.property(text, (word) => {
        const said = execFileSync('/bin/sh', ['-c', `printf '%s' ${quoted(word)}`], {
          encoding: 'utf8',
        })
        expect(said).toBe(word)
      }),
      { numRuns: 50 },
    )
  })

  test('publish to the topic of the stream', () => {
    expect(mosquittoLine(facts)).toBe(
      [
        'mosquitto_pub -h 127.0.0.1 -p 1883 \\',
        '  -u "$KEY" -P "$SECRET" -q 1 \\',
        `  -t streams/s-1/data -m '{"a": "it'\\''s"}'`,
      ].join('\n'),
    )
  })

  test('publish over TLS where there is nothing else', () => {
    const line = mosquittoLine({ ...facts, mqtt: null, mqtts: 'mqtts://vault.example' })
    expect(line).toContain(
      'mosquitto_pub -h vault.example -p 8883 \\\n  --capath /etc/ssl/certs \\\n',
    )
  })

  test('do not speak of MQTT where there is none', () => {
    expect(mosquittoLine({ ...facts, mqtt: null })).toBeUndefined()
  })

  test('send to the address of the service', () => {
    expect(curlLine(facts)).toContain('curl http://127.0.0.1:8080/streams/s-1/data \\\n')
  })

  test('name a topic of the device itself, where the stream listens to one', () => {
    expect(topicOf({ ...facts, topic: 'plant/7' })).toBe('plant/7')
    expect(topicOf(facts)).toBe('streams/s-1/data')
  })
})
