import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { deliveryHeaders } from '../../src/telling/webhooks/delivery-headers.ts'

test('the example takes what is signed, once, and refuses everything else', async () => {
  const example = spawn(process.execPath, ['examples/webhook-receiver/receiver.js'], {
    env: { ...process.env, SECRET: 'a secret', PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  const output = createInterface({ input: example.stdout })
  output.on('line', (line) => lines.push(line))
  await once(output, 'line')
  const url = `http://127.0.0.1:${/port (\d+)/.exec(lines[0] ?? '')?.[1]}/`
  const body = '{"event_type":"vault.created","timestamp":"","data":{"id":"boiler"}}'
  const post = async (secret: string): Promise<number> => {
    const { sent: headers } = deliveryHeaders(
      { secret, previousSecret: undefined, customHeaders: {} },
      { deliveryId: '', eventId: '', eventType: '', format: 'emitted', body, nowUs: 0 },
    )
    return (await fetch(url, { method: 'POST', body, headers })).status
  }
  expect(await post('another')).toBe(401)
  expect([await post('a secret'), await post('a secret')]).toEqual([204, 204])
  example.kill()
  await once(example, 'close')
  expect(lines.slice(1)).toEqual(['vault.created {"id":"boiler"}'])
})
