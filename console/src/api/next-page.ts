/** The cursor of the next page, as the header `Link` has it; undefined on the last one. */
export function nextCursorIn(headers: Headers): string | undefined {
  const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(headers.get('link') ?? '')?.[1]
  if (next === undefined) return undefined
  return new URL(next, location.origin).searchParams.get('cursor') ?? undefined
}
