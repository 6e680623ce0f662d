import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Config } from '../../config/config.ts'
import { type DataFolder, filesIn, openDataFolder } from '../../config/data-folder.ts'
import { allOf, takeAllSteps } from '../../core/all-steps.ts'
import { goOnFrom, ReceiptClock, systemClock } from '../../core/clock.ts'
import { FilePlaces } from '../../core/file-places.ts'
import { race } from '../../core/race.ts'
import { openSessions } from '../../ingest/mqtt-sessions/open-sessions.ts'
import { GroupCommit } from '../../ingest/pipeline/group-commit.ts'
import { Intake } from '../../ingest/pipeline/intake.ts'
import { Listeners } from '../../ingest/pipeline/listeners.ts'
import { StreamDirectory } from '../../ingest/pipeline/stream-directory.ts'
import { TopicDirectory } from '../../ingest/pipeline/topic-directory.ts'
import { DiskSpace } from '../../operating/observability/disk-space.ts'
import { FolderWatch } from '../../operating/observability/folder-watch.ts'
import { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { NotingJournal } from '../../reading/live/noting-journal.ts'
import { StreamNews } from '../../reading/live/stream-news.ts'
import { ThreadedJournal } from '../../storage/journal/threaded-journal.ts'
import { TrimSchedule } from '../../storage/journal/trim-schedule.ts'
import { openStateForReading, type StateDatabase } from '../../storage/state/database.ts'
import { DataStreamStore, streamVersionOf } from '../../streams/data-streams/data-stream-store.ts'
import { DeletionSchedule } from '../../streams/data-streams/deletion-schedule.ts'
import { Departures } from '../../streams/data-streams/departures.ts'
import { NotifiedOwners } from '../../telling/notifications/notified-owners.ts'
import { forgetStream, loadUserTopics } from './mqtt-upkeep.ts'
import { type ProcessingWorker, startWorker } from './processing-worker.ts'

/**
 * What everybody has processed stays in the journal for so long, so that who follows a stream can go
 * on where the connection broke; and never more than an eighth of the journal's limit.
 */
const retainedBytesMax = 64 * 1024 * 1024
const retainedShare = 8

/** The share of the journal's limit that may be kept because a server could lose it. */
const heldShareMax = 0.5

/** Called with the error when a fault of ours keeps an entry from being handled. */
type OnFault = (error: unknown) => void

export type Engine = Awaited<ReturnType<typeof startEngine>>

/** Everything that keeps and processes readings: threads, journal, state, intake. */
export async function startEngine(config: Config, onFault?: OnFault) {
  const folder = openDataFolder(config.dataDir, 'serve')
  const { worker, notified, ports, ...opened } = await openFiles(config, folder)
  const { journal, mqttSessions, diskSpace, lastThere } = opened
  const state = openStateForReading(folder.state)
  const folderWatch = new FolderWatch(new FilePlaces(openFilesOf(folder)))
  const receipts = new ReceiptClock(systemClock)
  const news = new StreamNews((await journal.status()).head)
  const commits = new GroupCommit(new NotingJournal(journal, news), systemClock)
  const trimming = trimmingOf({ journal, worker, folderWatch })
  const directory = directoryOf(state)
  const taking = intakeOf({ commits, receipts, diskSpace, folderWatch, onFault })
  const departures = departuresFor(directory, taking.listeners)
  const deletions = new DeletionSchedule({
    state,
    writer: worker,
    forget: (id) => directory.forget(id),
    drain: () => commits.drain(),
    head: async () => (await journal.status()).head,
    forgetMessages: (stream) => forgetStream(state, mqttSessions.sessions, stream),
    remove: (streams) => worker.removeStreams(streams),
    onRemoved: (id) => departures.announce(id),
  })
  deletions.wake()
  return {
    journal,
    /** When the service was there last, as it was written down; undefined at the first start. */
    lastThere,
    mqttSessions,
    worker,
    deletions,
    directory,
    topics: new TopicDirectory((userId) => loadUserTopics(state, userId)),
    state,
    receipts,
    commits,
    news,
    ...taking,
    departures,
    lifecycle: new LifecycleEvents({ state, writer: worker, clock: systemClock }),
    notified,
    ports,
    folder,
    trimming,
    journalPath: folder.journal,
    async close() {
      ports.bellPort.close()
      ports.sealedPort.close()
      diskSpace.stop()
      folderWatch.stop()
      await takeAllSteps([
        () => allOf([deletions.stop(), trimming.stop()]),
        // Before the connection that writes: whoever closes last takes the write-ahead log away,
        // which one that may only read cannot.
        () => state.destroy(),
        () => worker.stop(),
        () => mqttSessions.close(),
        () => journal.close(),
        () => folder.unlock(),
      ])
    },
  }
}

/** Opens everything that is in the folder, each part in its thread. */
async function openFiles(config: Config, folder: DataFolder) {
  const { worker, follower, ...told } = workerOf(config, folder)
  const time = resumedTime(worker)
  const ready = race([worker.ready(), worker.failed])
  const [journal, mqttSessions, , diskSpace, { before: lastThere }] = await Promise.all([
    openJournal(config, folder.journal, follower),
    // What is in them ends by steady time.
    time.then(() => openSessions(folder.mqttSessions, systemClock)),
    ready,
    DiskSpace.watch({ path: config.dataDir, bytesMin: config.diskBytesMin }),
    time,
  ]).catch(async (error: unknown) => {
    // Who ends the process meanwhile would have the library of the store end it, in its own way.
    await ready.catch(() => undefined)
    throw error
  })
  await worker.start()
  return { worker, ...told, journal, mqttSessions, diskSpace, lastThere }
}

/** The worker, with the ports that it speaks over with others than who calls it. */
function workerOf(config: Config, folder: DataFolder) {
  const { timeSeries, log, heldBytesMax, journalBytesMax, sealGraceUs, sealLedger } = config
  const { port1: follower, port2: head } = new MessageChannel()
  const { port1: listening, port2: notified } = new MessageChannel()
  const { port1: deskPort, port2: desk } = new MessageChannel()
  const { port1: anchorDeskPort, port2: anchorDesk } = new MessageChannel()
  const { port1: bellPort, port2: bell } = new MessageChannel()
  const { port1: sealedPort, port2: sealed } = new MessageChannel()
  const worker = startWorker({
    statePath: folder.state,
    timeSeries: {
      config: timeSeries,
      files: filesIn(folder.path),
      heldBytesMax: Math.min(heldBytesMax, journalBytesMax * heldShareMax),
    },
    journalPath: folder.journal,
    head,
    notified,
    desk,
    anchorDesk,
    bell,
    sealed,
    seals: { graceUs: sealGraceUs, ledger: sealLedger },
    log,
  })
  const ports = { deskPort, anchorDeskPort, bellPort, sealedPort }
  return { worker, follower, notified: new NotifiedOwners(listening), ports }
}

/** Goes on with the steady time that is stored, which the worker has read. */
async function resumedTime(worker: ProcessingWorker) {
  const resumed = await race([worker.steadyTime(), worker.failed])
  goOnFrom(resumed.now)
  return resumed
}

function openJournal(
  { journalBytesMax }: Config,
  path: string,
  follower: MessagePort,
): Promise<ThreadedJournal> {
  return ThreadedJournal.open({
    path,
    bytesMax: journalBytesMax,
    retainedBytes: Math.min(retainedBytesMax, journalBytesMax / retainedShare),
    followers: [follower],
  })
}

/** The files that are written as long as the service runs, of those that there are. */
function openFilesOf(folder: DataFolder): string[] {
  const databases = [folder.journal, folder.state, folder.mqttSessions, folder.questDbPositions]
  const logged = databases.flatMap((path) => [path, `${path}-wal`, `${path}-shm`])
  return [...logged, folder.timeSeries, folder.lock]
}

function trimmingOf({
  journal,
  worker,
  folderWatch,
}: {
  readonly journal: ThreadedJournal
  readonly worker: ProcessingWorker
  readonly folderWatch: FolderWatch
}): TrimSchedule {
  return new TrimSchedule(journal, async () => {
    const { shipper, decider, held } = await worker.status()
    // What went into files that are gone is only in the journal.
    if (folderWatch.look() !== undefined) return 0
    return Math.min(shipper.position, decider.position, held.from)
  })
}

function intakeOf({
  commits,
  receipts,
  diskSpace,
  folderWatch,
  onFault = () => undefined,
}: {
  readonly commits: GroupCommit
  readonly receipts: ReceiptClock
  readonly diskSpace: DiskSpace
  readonly folderWatch: FolderWatch
  readonly onFault: OnFault | undefined
}) {
  const listeners = new Listeners()
  /** To be asked before readings are taken. @throws DomainError why they cannot be kept */
  const assertReady = () => {
    try {
      folderWatch.assertInPlace()
      diskSpace.assertRoom()
      commits.assertReady()
    } catch (error) {
      commits.noteUnheard()
      throw error
    }
  }
  return {
    diskSpace,
    folderWatch,
    listeners,
    intake: new Intake({ commits, receipts, listeners, onFault }),
    assertReady,
    /** The way into the journal for whoever writes entries without the intake. */
    entries: {
      add: commits.add.bind(commits),
      noteUnheard: commits.noteUnheard.bind(commits),
      assertReady,
    },
  }
}

/** Has those of the engine who remember something of streams drop it. */
function departuresFor(directory: StreamDirectory, listeners: Listeners): Departures {
  const departures = new Departures()
  departures.onDeparture((id) => directory.forget(id))
  departures.onDeparture((id) => listeners.remove(id))
  return departures
}

function directoryOf(state: StateDatabase): StreamDirectory {
  const streams = new DataStreamStore(state, systemClock)
  return new StreamDirectory(async (id) => {
    const stream = await streams.load(id)
    return stream && streamVersionOf(stream)
  })
}
