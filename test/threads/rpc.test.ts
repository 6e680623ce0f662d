import { MessageChannel } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { Caller, Moved, serveCalls, ThreadEnded } from '../../src/core/threads/rpc.ts'

interface Echo {
  echo(value: unknown): unknown
  fail(): never
}

const { port1, port2 } = new MessageChannel()
serveCalls(port2, {
  echo: (value: unknown) => value,
  fail: () => {
    const cause = new Error('it listens on port 9')
    throw new DomainError('store_unavailable', 'nobody answers', { cause })
  },
})
const caller = new Caller<Echo>(port1)

afterAll(() => port1.close())

const unsendable = () => undefined

test('a failure comes with what its cause says, which is for the log', async () => {
  await expect(caller.calls.fail()).rejects.toMatchObject({
    code: 'store_unavailable',
    message: 'nobody answers',
    cause: { message: 'it listens on port 9' },
  })
})

test('an argument that cannot be sent fails its call alone, and leaves nothing open', async () => {
  await expect(caller.calls.echo(unsendable)).rejects.toThrow('could not be cloned')
  expect(await caller.calls.echo(1)).toBe(1)

  // Every open call is rejected by this: one that nobody waits for would end the process.
  const open = caller.calls.echo(2)
  caller.close()
  await expect(open).rejects.toThrow(ThreadEnded)
})

test('a value that cannot be sent back fails its call alone', async () => {
  const { port1: here, port2: there } = new MessageChannel()
  serveCalls(there, { echo: (value: unknown) => (value === 'function' ? unsendable : value) })
  const asking = new Caller<Echo>(here)

  await expect(asking.calls.echo('function')).rejects.toThrow('could not be cloned')
  expect(await asking.calls.echo(1)).toBe(1)
  here.close()
})

test('what a thread tells of a fault answers no call', async () => {
  const { port1: here, port2: there } = new MessageChannel()
  serveCalls(there, { echo: (value: unknown) => value })
  const asking = new Caller<Echo>(here)

  const open = asking.calls.echo(1)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
  there.postMessage({ fault: new Error('in a timer') })

  expect(await open).toBe(1)
  expect(await Promise.all([asking.calls.echo(2), asking.calls.echo(3)])).toEqual([2, 3])
  here.close()
})

test('whoever calls a thread that has ended by an error is told which', async () => {
  const { port1: here } = new MessageChannel()
  const asking = new Caller<Echo>(here)
  const open = asking.calls.echo(1)

  asking.close(new Error('out of memory'))

  await expect(open).rejects.toMatchObject({ cause: { message: 'out of memory' } })
  await expect(open).rejects.not.toThrow(ThreadEnded)
  await expect(asking.calls.echo(2)).rejects.toThrow('the thread has ended')
  here.close()
})

test('memory of an argument goes over, and is not copied', async () => {
  const { port1: here, port2: there } = new MessageChannel()
  serveCalls(there, { echo: (value: unknown) => value })
  const asking = new Caller<Echo>(here)
  const bytes = new Uint8Array([1, 2, 3])

  const answer = asking.calls.echo(new Moved(bytes, [bytes.buffer]))

  expect(bytes.byteLength).toBe(0)
  expect(await answer).toEqual(new Uint8Array([1, 2, 3]))
  here.close()
})

test('procedures of another thread are no promise, and nothing that can be printed', async () => {
  const { port1: here, port2: there } = new MessageChannel()
  serveCalls(there, { echo: (value: unknown) => value })
  const asking = new Caller<Echo>(here)

  // Were `then` a procedure, this would wait for ever.
  const calls = await Promise.resolve(asking.calls)

  expect(Object.prototype.toString.call(calls)).toBe('[object Object]')
  expect(await calls.echo(1)).toBe(1)
  here.close()
})
