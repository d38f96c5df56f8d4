/// The templates, styles and scripts of the screens, which are part of the program.
///
/// One file to install, nothing to find at run time, and nobody can put other files in their place.
package enum WebAssets {
  /// The templates, by name.
  package static let templates: [String: [UInt8]] = [
    "agenda": PackageResources.agenda_mustache,
    "begin": PackageResources.begin_mustache,
    "conflict": PackageResources.conflict_mustache,
    "done": PackageResources.done_mustache,
    "failure": PackageResources.failure_mustache,
    "filters": PackageResources.filters_mustache,
    "history": PackageResources.history_mustache,
    "keyboard": PackageResources.keyboard_mustache,
    "lists": PackageResources.lists_mustache,
    "more": PackageResources.more_mustache,
    "notice": PackageResources.notice_mustache,
    "page": PackageResources.page_mustache,
    "places": PackageResources.places_mustache,
    "question": PackageResources.question_mustache,
    "row": PackageResources.row_mustache,
    "rows": PackageResources.rows_mustache,
    "search": PackageResources.search_mustache,
    "settings": PackageResources.settings_mustache,
    "statistics": PackageResources.statistics_mustache,
    "sync": PackageResources.sync_mustache,
    "tags": PackageResources.tags_mustache,
    "task": PackageResources.task_mustache,
    "transfer": PackageResources.transfer_mustache,
    "understood": PackageResources.understood_mustache,
    "view": PackageResources.view_mustache,
  ]

  /// The files that a browser fetches, by name.
  package static let files: [String: [UInt8]] = [
    "app.css": PackageResources.app_css,
    "app.js": PackageResources.app_js,
    "capture.js": PackageResources.capture_js,
    "connection.js": PackageResources.connection_js,
    "drag.js": PackageResources.drag_js,
    "families.js": PackageResources.families_js,
    "gestures.js": PackageResources.gestures_js,
    "icon.svg": PackageResources.icon_svg,
    "icons.svg": PackageResources.icons_svg,
    "keyboard.js": PackageResources.keyboard_js,
    "menu.js": PackageResources.menu_js,
    "morph.js": PackageResources.morph_js,
    "places.js": PackageResources.places_js,
    "question.js": PackageResources.question_js,
    "requests.js": PackageResources.requests_js,
    "rows.js": PackageResources.rows_js,
    "screen.js": PackageResources.screen_js,
    "search.js": PackageResources.search_js,
    "stream-worker.js": PackageResources.stream_worker_js,
    "stream.js": PackageResources.stream_js,
    "transfer.js": PackageResources.transfer_js,
  ]
}
