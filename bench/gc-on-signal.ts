/**
 * Loaded into a measured service by `--import`: SIGUSR2 collects all garbage of the network thread,
 * so that what remains is what its connections hold.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

if (isMainThread) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  process.on('SIGUSR2', () => {
    collect()
    collect()
  })
}
