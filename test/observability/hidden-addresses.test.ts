import { expect, test } from 'vitest'
import { hiding } from '../../src/operating/observability/hidden-addresses.ts'

const hide = hiding([
  'https://mainnet.node.example/v3/0123456789abcdef',
  'wss://abcdef0123.node.example:8443/?key=another-token',
  'http://127.0.0.1:8545/third%20token',
  'ws://localhost:9000',
  'http://[::1]/a-fourth-token',
])

test.each([
  ['fetch of https://mainnet.node.example/v3/0123456789abcdef failed', 'fetch of [address] failed'],
  ['getaddrinfo ENOTFOUND mainnet.node.example', 'getaddrinfo ENOTFOUND [address]'],
  ['connect to abcdef0123.node.example:8443 failed', 'connect to [address] failed'],
  ['GET /v3/0123456789abcdef', 'GET /v3/[address]'],
  ['POST /?key=another-token', 'POST /?key=[address]'],
  ['connect ECONNREFUSED 127.0.0.1:8545', 'connect ECONNREFUSED [address]'],
  ['at /third%20token', 'at /[address]'],
  ['ws://localhost:9000/ is away', '[address] is away'],
  ['at a-fourth-token', 'at [address]'],
])('%s is %s', (said, left) => {
  expect(hide(said)).toBe(left)
})

test('what has nothing to do with an address stays', () => {
  const said = 'v3 of 127.0.0.1:8080 and localhost:1883 at node.example, and ::1'
  expect(hide(said)).toBe(said)
  expect(hiding([])(said)).toBe(said)
})
