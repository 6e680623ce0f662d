// Loaded into a service under test, and into each of its threads (`--import`): whatever fails on the network says in its message where
// that was, as libraries may. What LOUD_NETWORK names fails with nobody waiting for it. Plain JavaScript, like `fault-preload.js`.
import { EventEmitter } from 'node:events'
import { WebSocket } from 'ws'

const isUncaught = process.env.LOUD_NETWORK === 'uncaught'
const quiet = globalThis.fetch

function loud(error, address) {
  const cause = new Error(`no way to ${address}`, { cause: error })
  return Object.assign(new Error(`asking ${address} failed`, { cause }), { address })
}

function fail(error) {
  if (isUncaught) setImmediate(() => { throw error })
  return error
}

globalThis.fetch = async (input, init) => {
  try {
    return await quiet(input, init)
  } catch (error) {
    throw fail(loud(error, input instanceof Request ? input.url : input.toString()))
  }
}

WebSocket.prototype.emit = function emit(name, ...given) {
  const said = name === 'error' ? [fail(loud(given[0], this.url))] : given
  return EventEmitter.prototype.emit.call(this, name, ...said)
}
