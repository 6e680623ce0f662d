import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * Limits are for what hangs, and not for what is slow: a machine with others on it is three times
 * slower than one alone. Whatever takes long by itself is measured in bench/.
 */
const expect = { poll: { timeout: 60_000 } }
const hookTimeout = 120_000

export default defineConfig({
  test: {
    // Tests of expiries, keep-alives and restarts wait for half of their time: others run meanwhile.
    maxWorkers: 2 * availableParallelism(),
    projects: [
      {
        test: {
          name: 'unit',
          expect,
          include: [
            'test/{console,core,config,observability,processors,pipeline,data-streams,auth,devices,fleets,threads,units,egress,webhooks,unrouted}/**/*.test.ts',
            'test/*.test.ts',
          ],
          testTimeout: 60_000,
          hookTimeout,
        },
      },
      {
        test: {
          name: 'integration',
          expect,
          include: [
            'test/{alerts,anchors,backup,evidence,exports,files,imports,jobs,journal,ledgers,time-series,state,http,connectors,sources,idempotency,lifecycle,live,clients,mail,mqtt-sessions,notifications,protocols,quarantine,recipes,retention,templates,twins,cli,conformance,delivery}/**/*.test.ts',
          ],
          testTimeout: 240_000,
          hookTimeout,
        },
      },
      {
        // The console in a browser, against services as `npm start` starts them.
        test: {
          name: 'browser',
          expect,
          include: ['test/browser/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout,
        },
      },
      {
        // What takes long, and kills that go on and on: `npm run test:deep`, beside `npm test`.
        test: {
          name: 'deep',
          expect,
          include: ['test/deep/**/*.test.ts'],
          testTimeout: 3_600_000,
          hookTimeout,
        },
      },
      {
        // A node that takes minutes to build: `npm run test:ledgers`, beside `npm test`.
        test: {
          name: 'geth',
          expect,
          include: ['test/geth/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout,
        },
      },
      {
        test: {
          name: 'end-to-end',
          expect,
          include: ['test/{end-to-end,pages,first-hour}/**/*.test.ts'],
          testTimeout: 900_000,
          hookTimeout,
        },
      },
    ],
  },
})
