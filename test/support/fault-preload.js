// Loaded into a service under test, and into each of its threads (`--import`): lets the thread that a file
// names fail as code of ours or of a library might, with nobody waiting for it. Plain JavaScript, because
// an old Node that runs npm loads it as well.
import { EventEmitter } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { basename } from 'node:path'

const pollMs = 20

const control = process.env.STREAMVAULT_TEST_FAULTS
const thread = basename(process.argv[1] ?? '').replace(/\.[jt]s$/, '')

const faults = {
  throw(error) {
    throw error
  },
  reject(reason) {
    Promise.withResolvers().reject(reason)
  },
  emit(error) {
    new EventEmitter().emit('error', error)
  },
}

function look() {
  const [name, fault] = read().split(' ')
  if (name !== thread) return
  rmSync(control)
  faults[fault](new Error(`injected into ${thread}`, { cause: new Error('by a test') }))
}

function read() {
  try {
    return readFileSync(control, 'utf8')
  } catch {
    return ''
  }
}

if (control) setInterval(look, pollMs).unref()
