import { MessageChannel } from 'node:worker_threads'
import { afterEach, expect, test } from 'vitest'
import { Caller, serveCalls } from '../../src/threads/rpc.ts'

interface Echo extends Record<string, (argument: never) => unknown> {
  echo(value: unknown): unknown
}

const { port1, port2 } = new MessageChannel()
serveCalls(port2, { echo: (value: unknown) => value })
const caller = new Caller<Echo>(port1)

afterEach(() => port1.close())

const unsendable = () => undefined

test('an argument that cannot be sent fails its call alone, and leaves nothing open', async () => {
  await expect(caller.call('echo', unsendable)).rejects.toThrow('could not be cloned')
  expect(await caller.call('echo', 1)).toBe(1)

  // Every open call is rejected by this: one that nobody waits for would end the process.
  const open = caller.call('echo', 2)
  caller.close()
  await expect(open).rejects.toThrow('the thread has ended')
})
