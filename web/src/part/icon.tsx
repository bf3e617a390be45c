// Sixteen-pixel line icons, drawn here so that nothing is fetched. Always beside a word or with a label.

const shapes = {
  runs: "M3 4h10M3 8h10M3 12h6",
  launches: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z",
  compare: "M2 12c3 0 3-8 6-8s3 8 6 8M2 6c3 0 3 4 6 4s3-4 6-4",
  sql: "M3 4c0-2 10-2 10 0v8c0 2-10 2-10 0zM3 4c0 2 10 2 10 0M3 8c0 2 10 2 10 0",
  health: "M1.5 8h3l2-5 3 10 2-5h3",
  start: "M4 2.5v11l9-5.5z",
  settings:
    "M8 5.5a2.5 2.5 0 100 5 2.5 2.5 0 000-5zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4",
  check: "M3 8.5l3.2 3.2L13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  warning: "M8 2.2L14.5 13.5h-13zM8 6.5v3.2M8 11.6v.2",
  dot: "M8 8m-3 0a3 3 0 106 0 3 3 0 10-6 0",
  clock: "M8 2a6 6 0 100 12A6 6 0 008 2zM8 4.8V8l2.2 1.6",
  info: "M8 2a6 6 0 100 12A6 6 0 008 2zM8 7.2v4M8 4.8v.2",
  question: "M6 6c0-2.6 4-2.6 4 0 0 1.6-2 1.6-2 3.2M8 11.6v.2",
  stop: "M4 4h8v8H4z",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.2v9.6L12.5 8z",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  down: "M4 6l4 4 4-4",
  right: "M6 4l4 4-4 4",
  up: "M4 10l4-4 4 4",
  copy: "M5.5 5.5h7v8h-7zM10 5.5v-3H3v8h2.5",
  expand: "M9.5 3H13v3.5M6.5 13H3V9.5M13 3L9 7M3 13l4-4",
  search: "M7 2.8a4.2 4.2 0 100 8.4 4.2 4.2 0 000-8.4zM10.2 10.2l3.3 3.3",
  theme: "M8 2.5a5.5 5.5 0 100 11zM8 2.5a5.5 5.5 0 010 11",
  pin: "M6 2.5h4l-.5 4 2 2.5h-7l2-2.5zM8 9v4.5",
  download: "M8 2.5v7.5M4.8 7L8 10.2 11.2 7M3 13.2h10",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5",
  plus: "M8 3.5v9M3.5 8h9",
  minus: "M3.5 8h9",
  image: "M2.5 3.5h11v9h-11zM2.5 11l3.5-3.5 3 3 2-2 2.5 2.5",
  tag: "M2.5 2.5h5l6 6-5 5-6-6zM5.3 5.3h.1",
  eye: "M1.5 8c3.5-6 9.5-6 13 0-3.5 6-9.5 6-13 0zM8 6a2 2 0 100 4 2 2 0 000-4z",
  hidden: "M1.5 8c3.5-6 9.5-6 13 0-3.5 6-9.5 6-13 0zM3 13.5L13 2.5",
  flag: "M4 14V2.5h8l-2 3 2 3H4",
  range: "M8 2.5v11M5 5.2L8 2.5l3 2.7M5 10.8l3 2.7 3-2.7",
  left: "M10 4L6 8l4 4",
  star: "M8 2.5l1.7 3.5 3.8.5-2.8 2.6.7 3.8L8 11l-3.4 1.9.7-3.8L2.5 6.5l3.8-.5z",
} as const;

export type IconName = keyof typeof shapes;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.4 : 1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={shapes[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg
      aria-hidden="true"
      width="22"
      height="22"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.2"
      strokeLinecap="round"
    >
      <path d="M4 3c0 6 8 5 8 11v7M20 3c0 6-8 5-8 11M12 3v4" />
    </svg>
  );
}
