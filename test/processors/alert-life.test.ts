import { describe, expect, test } from 'vitest'
import { admit, newClock } from '../../processors/alert-memory.ts'
import {
  cleared,
  hand,
  isHot,
  reading,
  run,
  secondUs,
  timer,
  transitions,
  triggered,
} from '../support/alert-signals.ts'

describe('a person', () => {
  test('acknowledges an alert, which goes on until it clears', () => {
    expect(
      run(isHot, [reading(1, 81), hand(2, 'acknowledge'), reading(3, 82), reading(4, 0)]),
    ).toEqual([
      [1, 'firing', triggered],
      [2, 'acknowledged', undefined],
      [4, 'cleared', cleared],
    ])
  })

  test('clears an alert, which begins again only after it was whole once', () => {
    const signals = [
      reading(1, 81),
      hand(2, 'clear'),
      reading(3, 82),
      reading(4, 0),
      reading(5, 81),
    ]

    expect(run(isHot, signals)).toEqual([
      [1, 'firing', triggered],
      [2, 'cleared', cleared],
      [5, 'firing', triggered],
    ])
  })

  test('is named with what came of it, and nobody with what did not', () => {
    const moves = transitions(isHot, [reading(1, 81), hand(2, 'acknowledge'), reading(3, 0)])

    expect(moves.map(({ cause, by }) => [cause, by])).toEqual([
      ['reading', undefined],
      ['person', 'someone'],
      ['reading', undefined],
    ])
  })

  test('mutes a rule: what begins and ends meanwhile is not told', () => {
    expect(run(isHot, [hand(0, 'mute', 9), reading(1, 81), reading(2, 0), reading(9, 81)])).toEqual(
      [
        [1, 'firing', undefined],
        [2, 'cleared', undefined],
        [9, 'firing', triggered],
      ],
    )
  })

  test('is told of the end of what he was told of, also while it is muted', () => {
    expect(run(isHot, [reading(1, 81), hand(2, 'mute', 9), reading(3, 0)])).toEqual([
      [1, 'firing', triggered],
      [3, 'cleared', cleared],
    ])
  })

  test.each([
    ['when the time is over', timer(9), 9],
    ['when somebody ends it', hand(5, 'unmute'), 5],
  ])('is told of what began while it was muted, and goes on, %s', (_, end, seconds) => {
    expect(run(isHot, [hand(0, 'mute', 9), reading(1, 81), end])).toEqual([
      [1, 'firing', undefined],
      [seconds, 'firing', triggered],
    ])
  })

  test('who changes a rule ends what it has begun', () => {
    const moves = transitions(isHot, [reading(1, 81), hand(2, 'retire')])

    expect(moves.map(({ to, cause, notice }) => [to, cause, notice])).toEqual([
      ['firing', 'reading', triggered],
      ['cleared', 'definition', cleared],
    ])
  })
})

describe('an alert that flaps', () => {
  /** Broken and whole by turns, ten seconds each. */
  const flapping = Array.from({ length: 12 }, (_, index) =>
    reading(index * 10, index % 2 === 0 ? 81 : 79),
  )

  test('is told five times, and goes on until it was whole for ten minutes', () => {
    const moves = transitions(isHot, [...flapping, reading(709, 79), timer(710)])

    expect(moves.filter(({ notice }) => notice === triggered)).toHaveLength(5)
    expect(moves.slice(8)).toMatchObject([
      { to: 'firing', atUs: 80 * secondUs, isFlapping: true, flaps: 0 },
      { to: 'cleared', atUs: 710 * secondUs, isFlapping: true, flaps: 1 },
    ])
  })

  test('is no longer flapping once a person has cleared it', () => {
    const again = [hand(200, 'clear'), reading(201, 79), reading(202, 81), reading(203, 79)]

    expect(run(isHot, [...flapping, ...again]).slice(9)).toEqual([
      [200, 'cleared', cleared],
      [202, 'firing', triggered],
      [203, 'cleared', cleared],
    ])
  })
})

describe('the clock of a stream', () => {
  test('counts what is older than the newest reading, and lets it move nothing', () => {
    const clock = newClock()

    expect([1, 3, 2, 3, 4].map((timeUs) => admit(clock, timeUs))).toEqual([
      true,
      true,
      false,
      true,
      true,
    ])
    expect(clock.late).toBe(1)
  })

  test('knows a reading of the newest time when it is sent again', () => {
    const clock = newClock()
    const sent = [
      [1, 10],
      [1, 11],
      [1, 10],
      [2, 10],
      [2, 10],
    ] as const

    expect(sent.map(([timeUs, digest]) => admit(clock, timeUs, digest))).toEqual([
      true,
      true,
      false,
      true,
      false,
    ])
    expect(clock.late).toBe(0)
  })
})
