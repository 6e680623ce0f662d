import { defineConfig } from 'vitest/config'

/** A condition that is awaited may come late on a busy machine: a second, as by default, is little. */
const expect = { poll: { timeout: 20_000 } }

export default defineConfig({
  test: {
    // By default one core would be left free: on a small machine that is half of it.
    maxWorkers: '100%',
    projects: [
      {
        test: {
          name: 'unit',
          expect,
          include: [
            'test/{core,config,observability,processors,pipeline,data-streams,auth,devices,threads,units,egress,webhooks}/**/*.test.ts',
            'test/*.test.ts',
          ],
          // Properties that compile many schemas take seconds on a busy machine.
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'integration',
          expect,
          include: [
            'test/{backup,exports,imports,journal,time-series,state,http,connectors,sources,idempotency,lifecycle,live,mqtt-sessions,notifications,quarantine,retention,templates,cli,conformance,delivery}/**/*.test.ts',
          ],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'end-to-end',
          expect,
          include: ['test/end-to-end/**/*.test.ts'],
          testTimeout: 300_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
