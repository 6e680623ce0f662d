// Loaded into a service under test, and into each of its threads (`--import`): writes the name of each package that a module is
// loaded of into the file PACKAGE_LOG, as a line. Plain JavaScript, like `fault-preload.js`.
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const told = new Set()

registerHooks({
  load(url, context, nextLoad) {
    const [, name] = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? []
    if (name !== undefined && !told.has(name)) {
      told.add(name)
      appendFileSync(process.env.PACKAGE_LOG, `${name}\n`)
    }
    return nextLoad(url, context)
  },
})
