# The page of `tessera compare --html`: its template and Chart.js, as bytes in the command.
#
# Chart.js 3 comes from Debian's libjs-chart.js (any copy will do: -DTESSERA_CHART_JS=FILE).
# Without it the page has every table, and says why it has no charts.

find_file(TESSERA_CHART_JS NAMES chart.min.js
    PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist NO_DEFAULT_PATH
    DOC "Chart.js 3, minified UMD build, for the charts of reports")
set(chart_library "")
if(TESSERA_CHART_JS)
    file(READ ${TESSERA_CHART_JS} chart_head LIMIT 200)
    if(chart_head MATCHES "Chart\\.js v3\\.")
        set(chart_library ${TESSERA_CHART_JS})
    else()
        message(STATUS "reports: ${TESSERA_CHART_JS} is not Chart.js 3, so no charts")
    endif()
else()
    message(STATUS "reports: no Chart.js, so no charts; Debian's libjs-chart.js brings it")
endif()

set(report_parts ${CMAKE_BINARY_DIR}/embedded_report.c)
set(report_template ${CMAKE_SOURCE_DIR}/data/report/report.html)
add_custom_command(OUTPUT ${report_parts}
    COMMAND ${CMAKE_COMMAND} -DTEMPLATE=${report_template} "-DCHART=${chart_library}"
            -DOUTPUT=${report_parts} -P ${CMAKE_SOURCE_DIR}/cmake/embed_report.cmake
    DEPENDS ${report_template} ${chart_library} ${CMAKE_SOURCE_DIR}/cmake/embed_report.cmake
    COMMENT "Embedding the template of reports" VERBATIM)
target_sources(tessera_measure PRIVATE ${report_parts})
