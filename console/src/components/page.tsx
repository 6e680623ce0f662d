import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { unreadCount } from '../api/inbox-count.ts'

export interface PageProps {
  readonly title: string
  /** What stands beside the title. */
  readonly beside?: ComponentChildren
  readonly children: ComponentChildren
}

/** A page with its title, which is also that of the tab, after what is unread in the inbox. */
export function Page({ title, beside, children }: PageProps) {
  const unread = unreadCount.value ?? 0
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ''}${title} · Streamvault`
  }, [title, unread])
  return (
    <>
      <div class="page-head">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {beside}
      </div>
      {children}
    </>
  )
}
